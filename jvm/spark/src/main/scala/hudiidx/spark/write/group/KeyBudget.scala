package hudiidx.spark.write.group

/** Memory for keys of base files that are held at once, as far as they are not read in several rounds. */
private[write] object KeyBudget {
  val Bytes: Long = 64L << 20

  /** Of objects and table slots of a key, on top of its bytes. */
  private val EntryBytes = 160

  def bytesOf(key: Array[Byte]): Int = key.length + EntryBytes
}
