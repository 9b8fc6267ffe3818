package hudiidx.benchmarks

/** What a generated table looks like. Counts are exact; everything else follows from the seed.
  *
  *  @param files      data files in all, over all versions of all file groups
  *  @param instants   completed commits, all on the active timeline
  */
final case class Shape(name: String, files: Int, partitions: Int, instants: Int, seed: Long) {

  /** Share of the files that are newer versions of a file group that is already there. */
  val updateShare: Double = 0.1

  /** Files of the newest partition: all of them are real Parquet, written by the last two commits. */
  val realPartitionFiles: Int = 8

  /** Real Parquet files in other partitions, one in each. */
  val realFilesElsewhere: Int = math.min(20, partitions / 100)

  require(instants >= 50, s"shape $name: $instants instants; at least 50 make a timeline that is worth reading")
  require(files >= partitions + realPartitionFiles, s"shape $name: $files files cannot fill $partitions partitions")
}

/** RFC-15's tables ("Dataset C, M, E") and the one of its size estimates (S). */
object Shape {
  val All: Vector[Shape] = Vector(
    Shape("C", 1050, 719, 50, 15001L),
    Shape("M", 384757, 3615, 60, 15002L),
    Shape("E", 2271646, 493, 100, 15003L),
    Shape("S", 2000000, 2000, 100, 15004L)
  )

  def named(name: String): Shape =
    All.find(_.name == name).getOrElse {
      throw new IllegalArgumentException(s"no table shape $name; known: ${All.map(_.name).mkString(", ")}")
    }
}
