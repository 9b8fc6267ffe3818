package hudiidx.engine.column

import java.nio.ByteBuffer

import hudiidx.Fixtures
import hudiidx.column._
import hudiidx.parquet.{ParquetLayout, ParquetTables}
import hudiidx.storage.LocalStorage
import hudiidx.table.FileKind
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.example.data.Group
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.io.api.Binary
import org.scalatest.funsuite.AnyFunSuite

/** Records of files of stock Hudi's tables: no value that a file has is ruled out, absent ones mostly are. */
class FileRecordsSuite extends AnyFunSuite {

  private val tables = Vector(
    "v6-cow-types",
    "v6-mor-types",
    "v9-cow-types",
    "v9-mor-types",
    "v9-mor-bucket-parquet",
    "v9-partial-updates"
  )

  for (name <- Fixtures.sampled(this, tables))
    test(s"$name: bloom filters and sets of values hold each value of each file") {
      val table = new TableFiles(Fixtures.table(name))
      val columns = table.columns.all.collect { case (path, Some(_)) => path }
      val specs = columns
        .flatMap(c => Vector(IndexSpec("bloom", Vector(c)), IndexSpec("values", Vector(c), Map("most" -> "1000"))))
      val records = new FileRecords(table.columns, specs)
      var (held, absent, wrong) = (0, 0, 0)
      table.files.filter(table.isThere).foreach { file =>
        val reader = LocalStorage.open(FileColumns.pathOf(Fixtures.table(name), file))
        try {
          val sources =
            if (file.kind == FileKind.Parquet) Vector(new ParquetRows(reader))
            else RowSource.ofLog(reader).getOrElse(Vector.empty)
          records.of(reader, file.kind).foreach { record =>
            val column = record.columns.head
            val values = rowsOf(sources, column)
            values.foreach { v =>
              assert(test(record, v), s"${file.fileName} ${column.path} ${column.kind} $v")
              held += 1
            }
            if (values.size > 1) absentOf(values).foreach { v =>
              absent += 1
              if (test(record, Some(v))) wrong += 1
            }
          }
        } finally reader.close()
      }
      assert(held > 100)
      assert(wrong < absent * 0.05, s"$wrong of $absent absent values were taken for present")
    }

  test("of columns whose values stand in dictionaries these are read: records are as of all rows") {
    val types =
      Seq("int32 i", "int64 l", "double d", "float f", "binary t (STRING)", "int64 ts (TIMESTAMP(MILLIS,true))")
    val schema = (types :+ "fixed_len_byte_array(9) w (DECIMAL(20,2))")
      .map("optional " + _ + ";")
      .mkString("message m { ", " ", " }")
    def rows(nulls: Boolean) = (0 until 3000).map { r => (g: Group) =>
      if (!nulls || r % 7 != 0) {
        val v = r % 13
        g.append("i", v)
          .append("l", v.toLong)
          .append("d", v / 3.0)
          .append("f", v.toFloat)
          .append("t", s"t$v")
          .append("ts", v.toLong)
        g.add("w", Binary.fromConstantByteArray(Array.fill[Byte](8)(0) :+ v.toByte))
      }
    }
    val specs = Seq("i", "l", "d", "f", "t", "ts", "w").toVector.flatMap(c =>
      Vector("bloom", "values").map(IndexSpec(_, Vector(c)))
    )
    val table = new TableFiles(Fixtures.table("v9-cow-part")).columns
    for (nulls <- Seq(true, false)) {
      def records(dictionary: Boolean): Vector[(String, Vector[Byte])] = {
        val layout = ParquetLayout(CompressionCodecName.SNAPPY, WriterVersion.PARQUET_1_0, dictionary, 1 << 10, 1 << 14)
        val file = LocalStorage.open(ParquetTables.write(schema, layout, rows(nulls)))
        try {
          var values = 0
          new ParquetRows(file).foreachValue("t", new RowBuffer(Vector(ColumnType.Text)))(() => values += 1)
          assert((values < 3000) === dictionary)
          new FileRecords(table, specs)
            .of(file, FileKind.Parquet)
            .map(r => r.columns.head.path + r.columns.head.kind -> r.bytes.toVector)
        } finally file.close()
      }
      assert(records(dictionary = true) === records(dictionary = false) && records(dictionary = true).size === 14)
    }
  }

  private def rowsOf(sources: Vector[RowSource], column: IndexedColumn): Set[Option[Any]] = {
    val row = new RowBuffer(Vector(column.columnType))
    val found = Set.newBuilder[Option[Any]]
    sources.foreach { source =>
      source.foreach(Vector(column.path), row) { () =>
        found += (if (row.isNull(0)) None
                  else if (column.columnType.order == ValueOrder.Longs) Some(row.long(0))
                  else Some(row.text(0).toVector))
      }
    }
    found.result()
  }

  private def absentOf(values: Set[Option[Any]]): Set[Any] = values.flatten.flatMap {
    case l: Long      => Set[Any](l + 1, l - 7).filterNot(v => values(Some(v)))
    case t: Vector[_] => Set[Any](t :+ 65.toByte, 1.toByte +: t).filterNot(v => values(Some(v)))
    case other        => fail(other.toString)
  }

  private def test(record: ColumnRecord, value: Option[Any]): Boolean = {
    val wanted = value match {
      case None               => LeafTest(nulls = true, Some(new ValueSet.Longs(Array.empty, Array.empty)))
      case Some(l: Long)      => LeafTest(nulls = false, Some(new ValueSet.Longs(Array(l), Array(l))))
      case Some(t: Vector[_]) =>
        val bytes = t.asInstanceOf[Vector[Byte]].toArray
        LeafTest(nulls = false, Some(new ValueSet.Texts(Array(bytes), Array(bytes :+ 0.toByte))))
      case Some(other) => fail(other.toString)
    }
    val kind = IndexKind.find(record.columns.head.kind).get
    kind.test(record.columns, Vector(Some(wanted))).forall(_.mightMatch(ByteBuffer.wrap(record.bytes)))
  }
}
