package hudiidx.merge

/** Record keys; one is `length` bytes of `bytes` from `from` on, UTF-8. */
trait KeySet {
  def contains(bytes: Array[Byte], from: Int, length: Int): Boolean
}

object KeySet {

  /** Every key. */
  object All extends KeySet {
    override def contains(bytes: Array[Byte], from: Int, length: Int): Boolean = true
  }
}
