package hudiidx

/** Whole numbers in texts that anybody may have written: names of files, properties of index versions. */
object WholeNumber {
  private val MostDigits = 18

  /** None for what is no number from 0 to `most` in plain decimal digits, of which no more than 18 count. */
  def of(text: String, most: Long): Option[Long] = {
    val zeros = text.indexWhere(_ != '0')
    val digits = if (zeros < 0) text.length.min(1) else text.length - zeros
    if (digits == 0 || digits > MostDigits || !text.forall(c => c >= '0' && c <= '9')) None
    else Some(text.takeRight(digits).toLong).filter(_ <= most)
  }
}
