package hudiidx.hive

import java.sql.{Date => SqlDate}

import scala.collection.JavaConverters._
import scala.collection.mutable.ArrayBuffer

import org.apache.hadoop.fs.Path
import org.apache.hadoop.hive.serde2.io.{DateWritable, HiveDecimalWritable, TimestampWritable}
import org.apache.hadoop.io._
import org.apache.hadoop.mapred.{FileInputFormat, InputFormat, InputSplit, JobConf, Reporter}
import org.apache.hadoop.util.ReflectionUtils
import org.apache.spark.sql.types._
import org.apache.spark.sql.{DataFrame, Row, SparkSession}

/** Reads tables through the input formats as Hive and Hadoop do, splits serialized and all. */
object HiveTables {

  def job(folders: Seq[String], settings: (String, String)*): JobConf = {
    val conf = new JobConf()
    FileInputFormat.setInputPaths(conf, folders.map(new Path(_)): _*)
    settings.foreach { case (name, value) => conf.set(name, value) }
    conf
  }

  def splits(
      job: JobConf,
      wanted: Int = 1,
      format: InputFormat[NullWritable, ArrayWritable] = new HudiIdxInputFormat
  ): Vector[InputSplit] = format.getSplits(job, wanted).toVector.map(sent(_, job))

  /** As another process gets it. */
  private def sent(split: InputSplit, job: JobConf): InputSplit = {
    val out = new DataOutputBuffer
    split.write(out)
    val in = new DataInputBuffer
    in.reset(out.getData, out.getLength)
    val made = ReflectionUtils.newInstance(split.getClass, job)
    made.readFields(in)
    assert(in.read() < 0)
    made
  }

  def rows(
      job: JobConf,
      wanted: Int = 1,
      format: InputFormat[NullWritable, ArrayWritable] = new HudiIdxInputFormat
  ): Vector[Array[Writable]] = splits(job, wanted, format).flatMap(rowsOf(_, job, format))

  def rowsOf(
      split: InputSplit,
      job: JobConf,
      format: InputFormat[NullWritable, ArrayWritable] = new HudiIdxInputFormat
  ): Vector[Array[Writable]] = {
    val reader = format.getRecordReader(split, job, Reporter.NULL)
    val found = ArrayBuffer.empty[Array[Writable]]
    try {
      val (key, value) = (reader.createKey(), reader.createValue())
      while (reader.next(key, value)) found += value.get
    } finally reader.close()
    found.toVector
  }

  /** All rows of a table, with its columns as stock Hudi names and types them. */
  def frame(spark: SparkSession, schema: StructType, rows: Seq[Array[Writable]]): DataFrame = {
    val open = StructType(schema.map(f => f.copy(nullable = true, metadata = Metadata.empty)))
    spark.createDataFrame(rows.map(r => row(r, open)).asJava, open)
  }

  private def row(values: Array[Writable], struct: StructType): Row =
    Row.fromSeq(struct.fields.toSeq.zip(values).map { case (f, v) => value(v, f.dataType) })

  private def value(from: Writable, dataType: DataType): Any = (from, dataType) match {
    case (null, _)                                   => null
    case (v: BooleanWritable, BooleanType)           => v.get
    case (v: IntWritable, IntegerType)               => v.get
    case (v: IntWritable, ByteType)                  => v.get.toByte
    case (v: LongWritable, LongType)                 => v.get
    case (v: FloatWritable, FloatType)               => v.get
    case (v: DoubleWritable, DoubleType)             => v.get
    case (v: Text, StringType)                       => v.toString
    case (v: BytesWritable, BinaryType)              => v.copyBytes
    case (v: DateWritable, DateType)                 => new SqlDate(v.get.getTime)
    case (v: TimestampWritable, TimestampType)       => v.getTimestamp
    case (v: TimestampWritable, TimestampNTZType)    => v.getTimestamp.toLocalDateTime
    case (v: HiveDecimalWritable, _: DecimalType)    => v.getHiveDecimal.bigDecimalValue
    case (v: ArrayWritable, s: StructType)           => row(v.get, s)
    case (v: ArrayWritable, ArrayType(element, _))   => v.get.toSeq.map(value(_, element))
    case (v: ArrayWritable, MapType(key, mapped, _)) =>
      v.get.map { entry =>
        val pair = entry.asInstanceOf[ArrayWritable].get
        value(pair(0), key) -> value(pair(1), mapped)
      }.toMap
    case (other, _) => throw new IllegalArgumentException(s"${other.getClass} for $dataType")
  }
}
