package hudiidx.benchmarks

import com.fasterxml.jackson.databind.ObjectMapper
import java.nio.charset.StandardCharsets
import java.nio.file.Path
import java.security.MessageDigest

/** A partition and how many files it has. */
final case class PartitionFacts(path: String, files: Int)

/** What a generated table must list, for checks and for result tables.
  *
  *  @param average    the 64 partitions whose numbers of files are nearest to the mean, nearest first
  *  @param largest    the 8 largest partitions, largest first
  *  @param checksum   sum over all files of the first 60 bits of md5(`partition/name:size`), so order does not matter
  */
final case class TableFacts(
    shape: String,
    files: Int,
    partitions: Int,
    instants: Int,
    fileGroups: Int,
    average: Vector[PartitionFacts],
    largest: Vector[PartitionFacts],
    checksum: BigInt
) {

  def write(path: Path): Unit = {
    val json = new ObjectMapper()
    val root = json.createObjectNode()
    root.put("shape", shape).put("files", files).put("partitions", partitions).put("instants", instants)
    root.put("file_groups", fileGroups).put("checksum", checksum.toString)
    Seq("average_partitions" -> average, "largest_partitions" -> largest).foreach { case (name, partitions) =>
      val list = root.putArray(name)
      partitions.foreach(p => list.addObject().put("path", p.path).put("files", p.files))
    }
    json.writerWithDefaultPrettyPrinter().writeValue(path.toFile, root)
  }
}

object TableFacts {

  def of(plan: TablePlan): TableFacts = {
    val shape = plan.shape
    val counts = Array.tabulate(shape.partitions)(p => plan.partitionStart(p + 1) - plan.partitionStart(p))
    val mean = shape.files.toDouble / shape.partitions
    def facts(p: Int) = PartitionFacts(plan.partitionPath(p), counts(p))
    TableFacts(
      shape.name,
      shape.files,
      shape.partitions,
      shape.instants,
      plan.previous.count(_ < 0),
      counts.indices.sortBy(p => (math.abs(counts(p) - mean), p)).take(64).map(facts).toVector,
      counts.indices.sortBy(p => (-counts(p), p)).take(8).map(facts).toVector,
      checksum(plan)
    )
  }

  private def checksum(plan: TablePlan): BigInt = {
    val md5 = MessageDigest.getInstance("MD5")
    var high = BigInt(0)
    var sum = 0L // 60-bit summands: carried into `high` before they can overflow
    var row = 0
    while (row < plan.shape.files) {
      val text = s"${plan.partitionPath(plan.partitionOf(row))}/${plan.fileName(row)}:${plan.sizeBytes(row)}"
      sum += java.nio.ByteBuffer.wrap(md5.digest(text.getBytes(StandardCharsets.UTF_8))).getLong(0) >>> 4
      if (row % 4 == 3) { high += sum; sum = 0L }
      row += 1
    }
    high + sum
  }
}
