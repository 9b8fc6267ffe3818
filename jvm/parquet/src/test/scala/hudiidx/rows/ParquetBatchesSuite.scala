package hudiidx.rows

import java.nio.ByteBuffer
import java.nio.file.{Files, Paths}
import java.util.BitSet

import scala.util.Random

import hudiidx.parquet.{ParquetLayout, ParquetTables, ReaderInputFile, StorageInputFile}
import hudiidx.storage.{FileStamp, LocalStorage, RandomReader}
import hudiidx.{DamagedTable, Fixtures, HudiIdxException, TestSettings, UnsupportedTable}
import org.apache.parquet.ParquetReadOptions
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.example.data.Group
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.io.{DelegatingSeekableInputStream, InputFile, SeekableInputStream}
import org.scalacheck.Gen
import org.scalactic.anyvals.PosInt
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Batches have the rows that Parquet's own materializer makes one by one. */
final class ParquetBatchesSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val tries = if (TestSettings.isLong) 2000 else 250

  private def some(count: Int): MinSuccessful = minSuccessful(PosInt.ensuringValid(count))

  private def layout(random: Random): ParquetLayout = ParquetLayout(
    if (random.nextBoolean()) CompressionCodecName.GZIP else CompressionCodecName.UNCOMPRESSED,
    if (random.nextBoolean()) WriterVersion.PARQUET_1_0 else WriterVersion.PARQUET_2_0,
    dictionary = random.nextBoolean(),
    64 << random.nextInt(8),
    500L << random.nextInt(8)
  )

  private def write(random: Random): String = {
    val parts = ParquetShape.parts(random, 1 + random.nextInt(5), 3)
    val rows = Vector.fill(random.nextInt(150))((g: Group) => parts.foreach(_.fill(g, random)))
    ParquetTables.write(s"message t { ${parts.map(_.text).mkString(" ")} }", layout(random), rows)
  }

  private def typeOf(file: String): ValueType.Struct = {
    val reader = ParquetFileReader.open(new StorageInputFile(LocalStorage, file), ParquetReadOptions.builder().build())
    try ParquetTypes.struct(reader.getFileMetaData.getSchema, file)
    finally reader.close()
  }

  /** A type that a table may have now, whose files have the other one. */
  private def changed(of: ValueType, random: Random): ValueType = of match {
    case struct: ValueType.Struct       => changedStruct(struct, random)
    case ValueType.Items(element)       => ValueType.Items(changed(element, random))
    case ValueType.Entries(key, value)  => ValueType.Entries(key, changed(value, random))
    case other if random.nextInt(3) > 0 => other
    case ValueType.Int32 => pick(random)(ValueType.Int64, ValueType.Float64, ValueType.Text, ValueType.Date)
    case ValueType.Int64 =>
      pick(random)(ValueType.Float32, ValueType.Text, ValueType.Decimal(25, 2), ValueType.Timestamp(false, false))
    case ValueType.Float32               => pick(random)(ValueType.Float64, ValueType.Text)
    case ValueType.Date                  => ValueType.Text
    case ValueType.Text                  => ValueType.Binary
    case ValueType.Timestamp(true, zone) => pick(random)(ValueType.Int64, ValueType.Timestamp(millis = false, zone))
    case ValueType.Decimal(p, s)         => pick(random)(ValueType.Text, ValueType.Decimal(p + 3, s + 1))
    case other                           => other
  }

  private def pick(random: Random)(all: ValueType*): ValueType = all(random.nextInt(all.length))

  private def changedStruct(of: ValueType.Struct, random: Random): ValueType.Struct = {
    val kept = random.shuffle(of.fields.filter(_ => random.nextInt(5) > 0))
    val all = kept.map(f => f.copy(valueType = changed(f.valueType, random)))
    val absent = ValueType.Field("absent", ValueType.Items(ValueType.Decimal(20, 2)))
    ValueType.Struct(if (all.isEmpty || random.nextInt(3) == 0) all :+ absent else all)
  }

  private def outcome(rows: => Vector[Array[Any]]): Either[String, Vector[String]] =
    try Right(rows.map(BatchRows.show))
    catch { case e: HudiIdxException => Left(s"${e.getClass.getSimpleName}: ${e.getMessage}") }

  private def oneByOne(file: String, wanted: ValueType.Struct, range: Option[(Long, Long)]): Vector[Array[Any]] = {
    val rows =
      new ParquetRows(new StorageInputFile(LocalStorage, file), file, wanted, floatsByText = true, range)
    try Iterator.continually(rows.next()).takeWhile(_ != null).toVector
    finally rows.close()
  }

  private def batches(
      file: String,
      wanted: ValueType.Struct,
      range: Option[(Long, Long)] = None,
      limits: BatchLimits = BatchLimits.Usual,
      dropped: BitSet = new BitSet
  ): ParquetBatches = new ParquetBatches(
    new StorageInputFile(LocalStorage, file),
    file,
    wanted,
    floatsByText = true,
    range,
    limits = limits,
    dropped = dropped
  )

  test("batches of any size have the rows that are made one by one, in the file's types and in others") {
    var compared = 0
    forAll(Gen.long, some(tries)) { seed =>
      val random = new Random(seed)
      val file = write(random)
      val own = typeOf(file)
      val wanted = if (random.nextBoolean()) own else changedStruct(own, random)
      val size = Files.size(Paths.get(file))
      val range = if (random.nextInt(3) > 0) None else Some((0L, random.nextInt(size.toInt).toLong))
      val limits = BatchLimits(1 + random.nextInt(60), 1L << random.nextInt(16))
      val right = outcome(oneByOne(file, wanted, range))
      assert(outcome(BatchRows.all(batches(file, wanted, range, limits))) === right, s"seed $seed")
      if (right.exists(_.nonEmpty)) compared += 1
      val dropped = new BitSet
      for (all <- right; row <- all.indices if random.nextBoolean() && range.isEmpty) dropped.set(row)
      val left = right.map(_.zipWithIndex.collect { case (row, i) if !dropped.get(i) => row })
      val without = outcome(BatchRows.all(batches(file, wanted, range, limits, dropped)))
      assert(without === left, s"seed $seed without $dropped")
    }
    assert(compared > tries / 2)
  }

  test("columns are put together of others' values as well as of plain ones") {
    forAll(Gen.long, some(tries)) { seed =>
      val random = new Random(seed)
      val file = write(random)
      val own = typeOf(file)
      val rows = oneByOne(file, own, None)
      val made = new BatchBuilder(own, random.nextInt(3))
      val right = Vector.newBuilder[Array[Any]]
      val source = batches(file, own, limits = BatchLimits(1 + random.nextInt(50), Long.MaxValue))
      try {
        Iterator.continually(source.next()).takeWhile(_ != null).foreach { batch =>
          val from = random.nextInt(batch.rows)
          val count = random.nextInt(batch.rows - from + 1)
          made.addAll(batch, from, count)
          right ++= BatchRows.of(batch).slice(from, from + count)
          val plain = rows(random.nextInt(rows.length))
          made.add(plain)
          right += plain
        }
      } finally source.close()
      val found = Vector.tabulate(made.rows)(i => BatchRows.show(made.columns.map(_.value(i))))
      assert(found === right.result().map(BatchRows.show(_)), s"seed $seed")
      assert(made.columns.forall(_.count == made.rows))
    }
  }

  test("any byte of a file changed, or the file cut: rows, or an error of ours that names it") {
    forAll(Gen.long, some(tries / 10)) { seed =>
      val random = new Random(seed)
      val file = write(random)
      val own = typeOf(file)
      val bytes = Files.readAllBytes(Paths.get(file))
      val damaged = Fixtures.newFolder("damaged").resolve("d.parquet")
      (0 until 40).foreach { _ =>
        val copy = if (random.nextInt(8) == 0) bytes.take(random.nextInt(bytes.length)) else bytes.clone
        if (copy.nonEmpty) copy(random.nextInt(copy.length)) = random.nextInt().toByte
        Files.write(damaged, copy)
        try BatchRows.all(batches(damaged.toString, own)): Unit
        catch {
          case e: HudiIdxException => assert(e.getMessage.contains(damaged.toString), s"seed $seed")
          case e: OutOfMemoryError => assert(e.getMessage.contains(damaged.toString))
        }
      }
    }
  }

  test("columns that nobody asks for are not read, however broken they are") {
    val names = Vector("a", "b", "c", "d")
    val schema = names.map(n => s"optional group $n (LIST) { repeated group list { required binary element; } }")
    val rows = Vector.tabulate(500)(i => (g: Group) => names.foreach(n => fillList(g, n, i)))
    val file = ParquetTables.write(s"message t { ${schema.mkString(" ")} }", layout(new Random(1)), rows)
    val own = typeOf(file)
    val right = oneByOne(file, own, None)
    val chunks = chunksOf(file)
    val bytes = Files.readAllBytes(Paths.get(file))
    chunks.filter(_._1 != "c").foreach { case (_, from, until) =>
      java.util.Arrays.fill(bytes, from, until, 0xab.toByte)
    }
    Files.write(Paths.get(file), bytes)
    val counted = new CountedReader(LocalStorage.open(file))
    val wanted = ValueType.Struct(own.fields.filter(_.name == "c"))
    val found = new ParquetBatches(new ReaderInputFile(counted), file, wanted, floatsByText = true, None)
    val place = names.indexOf("c")
    assert(BatchRows.all(found).map(BatchRows.show(_)) === right.map(r => BatchRows.show(Array[Any](r(place)))))
    val (firstByte, lastByte) = (chunks.map(_._2).min, chunks.map(_._3).max)
    val ofData = counted.reads.filter { case (from, until) => from < lastByte && until > firstByte }
    assert(ofData.map(r => r._2 - r._1).sum === chunks.filter(_._1 == "c").map(c => (c._3 - c._2).toLong).sum)
    assert(intercept[DamagedTable](BatchRows.all(batches(file, own))).getMessage.contains(file))
  }

  private def fillList(g: Group, name: String, row: Int): Unit = {
    val list = g.addGroup(name)
    (0 until row % 4).foreach(i => list.addGroup("list").append("element", s"$name $row $i"))
  }

  /** Column, first byte and the one behind the last of each chunk. */
  private def chunksOf(file: String): Vector[(String, Int, Int)] = {
    val reader = ParquetFileReader.open(new StorageInputFile(LocalStorage, file), ParquetReadOptions.builder().build())
    try {
      val all = Vector.newBuilder[(String, Int, Int)]
      reader.getRowGroups.forEach(_.getColumns.forEach { c =>
        all += ((c.getPath.toArray.head, c.getStartingPos.toInt, (c.getStartingPos + c.getTotalSize).toInt))
      })
      all.result()
    } finally reader.close()
  }

  test("a file whose rows cannot be read is closed again") {
    val schema = "message t { required int32 n; repeated int32 many; }"
    val file = ParquetTables.write(schema, layout(new Random(1)), Seq(g => g.append("n", 1).append("many", 2): Unit))
    val plain =
      ParquetTables.write("message t { required int32 n; }", layout(new Random(1)), Seq(_.append("n", 1): Unit))
    for ((path, of) <- Seq(file -> ValueType.Int32, plain -> ValueType.Bool)) {
      val (wanted, streams) = (ValueType.Struct(Vector(ValueType.Field("n", of))), new CountedStreams(path))
      val refused = intercept[UnsupportedTable](new ParquetBatches(streams, path, wanted, floatsByText = true, None))
      assert(refused.getMessage.contains(path))
      assert(streams.opened > 0 && streams.closed === streams.opened)
    }
  }

  test("a batch ends where its bytes do: few rows of long texts, of which the file has each once") {
    val text = "long text" * 20000
    val schema = "message t { required int32 n; required binary s (UTF8); }"
    val wide =
      ParquetLayout(CompressionCodecName.GZIP, WriterVersion.PARQUET_1_0, dictionary = true, 4 << 20, 64L << 20)
    val rows = Vector.tabulate(1500)(i => (g: Group) => g.append("n", i).append("s", text): Unit)
    val file = ParquetTables.write(schema, wide, rows)
    assert(Files.size(Paths.get(file)) < (2 << 20))
    val found = batches(file, typeOf(file))
    var next = 0
    try
      Iterator.continually(found.next()).takeWhile(_ != null).foreach { batch =>
        assert(batch.columns.map(_.bytes).sum <= BatchLimits.Usual.bytes + text.length + 64)
        val numbers = batch.columns(0).asInstanceOf[IntValues]
        (0 until batch.rows).foreach(i => assert(numbers(i) === next + i))
        assert(batch.columns(1).asInstanceOf[BytesValues].length(batch.rows - 1) === text.length)
        next += batch.rows
      }
    finally found.close()
    assert(next === 1500)
  }
}

/** Notes what is read. */
private final class CountedReader(under: RandomReader) extends RandomReader {
  val reads = scala.collection.mutable.ArrayBuffer.empty[(Long, Long)]
  override def path: String = under.path
  override def sizeBytes: Long = under.sizeBytes
  override def stamp: FileStamp = under.stamp
  override def read(offset: Long, length: Int): ByteBuffer = {
    reads += ((offset, offset + length))
    under.read(offset, length)
  }
  override def readInto(offset: Long, length: Int, target: Array[Byte]): Unit = {
    reads += ((offset, offset + length))
    under.readInto(offset, length, target)
  }
  override def close(): Unit = under.close()
}

/** Counts the streams of a file. */
private final class CountedStreams(path: String) extends InputFile {
  private val under = new StorageInputFile(LocalStorage, path)
  var (opened, closed) = (0, 0)
  override def getLength: Long = under.getLength
  override def newStream(): SeekableInputStream = {
    val stream = under.newStream()
    opened += 1
    new DelegatingSeekableInputStream(stream) {
      override def getPos: Long = stream.getPos
      override def seek(to: Long): Unit = stream.seek(to)
      override def close(): Unit = {
        closed += 1
        super.close()
      }
    }
  }
}
