package hudiidx.spark

import java.io.FileNotFoundException
import java.nio.file.{Files, Paths, StandardCopyOption}

import scala.collection.JavaConverters._

import hudiidx.Fixtures
import hudiidx.spark.read.KeptFooters
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.scalatest.funsuite.AnyFunSuite

/** Footers that are kept are those of the files, as long as these are the same. */
final class KeptFootersSuite extends AnyFunSuite {
  private val conf = new Configuration

  private def baseFiles(table: String): Vector[String] = Fixtures
    .filesBelow(table)
    .filter(f => f.endsWith(".parquet") && !f.startsWith(".hoodie/"))
    .map(f => s"$table/$f")

  test("a footer is read once, and is the file's but for Hudi's bloom filter") {
    val files = baseFiles(Fixtures.copy("v9-cow-part"))
    assert(files.nonEmpty)
    files.foreach { f =>
      val path = new Path(f)
      val kept = KeptFooters.of(path, conf)
      assert(KeptFooters.of(path, conf) eq kept)
      val file = ParquetFileReader.open(HadoopInputFile.fromPath(path, conf))
      try {
        val own = file.getFooter
        assert(kept.getFileMetaData.getSchema === own.getFileMetaData.getSchema)
        assert(kept.getFileMetaData.getCreatedBy === own.getFileMetaData.getCreatedBy)
        assert(kept.getBlocks.asScala.map(_.toString) === own.getBlocks.asScala.map(_.toString))
        val pairs = own.getFileMetaData.getKeyValueMetaData.asScala.toMap
        assert(pairs.contains("org.apache.hudi.bloomfilter"))
        assert(kept.getFileMetaData.getKeyValueMetaData.asScala.toMap === pairs - "org.apache.hudi.bloomfilter")
      } finally file.close()
    }
  }

  test("a file that has changed is read anew, and one that is gone is not there") {
    val Vector(one, other) = baseFiles(Fixtures.copy("v9-cow-part")).take(2)
    val path = new Path(one)
    val before = KeptFooters.of(path, conf)
    Files.copy(Paths.get(other), Paths.get(one), StandardCopyOption.REPLACE_EXISTING)
    // Hadoop's checksum is the old file's.
    Files.deleteIfExists(Paths.get(path.getParent.toString, s".${path.getName}.crc"))
    val after = KeptFooters.of(path, conf)
    assert(after ne before)
    assert(
      after.getBlocks.asScala
        .map(_.toString) === KeptFooters.of(new Path(other), conf).getBlocks.asScala.map(_.toString)
    )
    Files.delete(Paths.get(one))
    intercept[FileNotFoundException](KeptFooters.of(path, conf))
  }
}
