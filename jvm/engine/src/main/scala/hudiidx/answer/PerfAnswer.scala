package hudiidx.answer

/** RFC-15's `metadata perf` of a table: the index against plain listing. Sizes are bytes.
  *
  * @param indexFiles  bytes by the name of the file
  * @param chosenShape of the manifest, and what other shapes would take, where that is asked
  */
final case class PerfAnswer(
    files: Long,
    partitions: Int,
    filesPerPartition: Double,
    largestPartitionFiles: Int,
    indexBytes: Long,
    indexFiles: Map[String, Long],
    timings: Vector[CallTiming],
    chosenShape: Part[String],
    sweep: Part[Vector[ShapeTiming]]
)

final case class CallTiming(call: String, listingMillis: Double, indexMillis: Double)

final case class ShapeTiming(
    shape: String,
    bytesPerFile: Double,
    partitionColdMillis: Double,
    partitionWarmMillis: Double
)
