package hudiidx.hive

import java.util.Properties

import hudiidx.UnsupportedTable
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.hadoop.hive.ql.exec.FileSinkOperator
import org.apache.hadoop.hive.ql.io.HiveOutputFormat
import org.apache.hadoop.io.{NullWritable, Writable}
import org.apache.hadoop.mapred.{JobConf, RecordWriter}
import org.apache.hadoop.util.Progressable

/** What a Hive table over a Hudi table names as its output format: it writes nothing. Files that no commit names would be no part
  * of the table.
  */
final class HudiIdxOutputFormat extends HiveOutputFormat[NullWritable, Writable] {

  override def getRecordWriter(
      fs: FileSystem,
      job: JobConf,
      name: String,
      progress: Progressable
  ): RecordWriter[NullWritable, Writable] = refuse()

  override def getHiveRecordWriter(
      job: JobConf,
      path: Path,
      valueClass: Class[_ <: Writable],
      isCompressed: Boolean,
      table: Properties,
      progress: Progressable
  ): FileSinkOperator.RecordWriter = refuse()

  override def checkOutputSpecs(fs: FileSystem, job: JobConf): Unit = refuse()

  private def refuse(): Nothing = throw new UnsupportedTable(
    "a Hive table over hudiidx.hive.HudiIdxInputFormat is for reading; write to the table with Hudi, or with " +
      "df.write.format(\"hudiidx\")"
  )
}
