package hudiidx.hadoop.column

import java.nio.ByteBuffer

import hudiidx.Fixtures
import hudiidx.column._
import hudiidx.storage.LocalStorage
import hudiidx.table.FileKind
import org.scalatest.funsuite.AnyFunSuite

/** Records of files of stock Hudi's tables: no value that a file has is ruled out, absent ones mostly are. */
class FileRecordsSuite extends AnyFunSuite {

  for (
    name <- Seq(
      "v6-cow-types",
      "v6-mor-types",
      "v9-cow-types",
      "v9-mor-types",
      "v9-mor-bucket-parquet",
      "v9-partial-updates"
    )
  )
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
