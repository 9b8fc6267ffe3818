package hudiidx.spark.stores

import hudiidx.Fixtures
import hudiidx.fs.s3.{Conditions, S3Server}
import hudiidx.fs.HadoopStorage
import hudiidx.fs.{LastWinsFileSystem, RenamingFileSystem}
import hudiidx.spark.LogLines
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileSystem
import org.apache.logging.log4j.Level
import org.scalatest.funsuite.AnyFunSuite

/** What users are told of stores on which two who publish at once are not told apart by the store itself. */
final class StoreWarningSuite extends AnyFunSuite {
  private val advice = "let one process at a time write indexes and tables here"

  private def warningsOf(work: => Any): Vector[String] = LogLines.of(Level.WARN)(work)

  private def publishTwo(conf: Configuration, folder: String): Unit = {
    val storage = new HadoopStorage(conf)
    assert(storage.publish(s"$folder/1", Array[Byte](1)) && storage.publish(s"$folder/2", Array[Byte](2)))
  }

  private def confOf(scheme: String, files: Class[_ <: FileSystem]): Configuration = {
    val conf = new Configuration
    conf.setClass(s"fs.$scheme.impl", files, classOf[FileSystem])
    conf
  }

  test("a store whose conditional put hudiidx does not know is warned of once, by name") {
    val folder = Fixtures.newFolder("warned")
    val told = warningsOf {
      publishTwo(confOf("lastwins", classOf[LastWinsFileSystem]), s"lastwins://test$folder/a")
      publishTwo(confOf("lastwins", classOf[LastWinsFileSystem]), s"lastwins://test$folder/b")
    }
    assert(told.size === 1 && told.head.startsWith("lastwins://test: ") && told.head.contains(advice))
  }

  test("a store that renames in one step is not warned of") {
    val conf = confOf("hdfs", classOf[RenamingFileSystem])
    assert(warningsOf(publishTwo(conf, s"hdfs://test${Fixtures.newFolder("not-warned")}")).isEmpty)
  }

  test("of S3 only a bucket is warned of whose store ignores the condition of a put, or does not know it") {
    val server = new S3Server
    try
      Seq(Conditions.Kept -> 0, Conditions.PassedOver -> 1, Conditions.Refused -> 1).foreach {
        case (conditions, times) =>
          val bucket = conditions.toString.toLowerCase
          server.bucket(bucket)
          server.conditions = conditions
          val told = warningsOf(publishTwo(server.configuration, s"s3a://$bucket/f"))
          assert(told.count(t => t.startsWith(s"s3a://$bucket: ") && t.contains(advice)) === times, told)
      }
    finally server.close()
  }
}
