package hudiidx

/** Table formats by the numbers that fixtures and names of tests have. */
object TableFormats {
  val versions: Vector[Int] = TableFormat.All.map(_.version)

  /** Versions that hudiidx writes. */
  val written: Vector[Int] = TableFormat.Written.map(_.version)

  def of(version: Int): TableFormat = TableFormat.find(version).get
}
