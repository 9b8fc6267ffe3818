package hudiidx.spark.rows

import com.fasterxml.jackson.databind.ObjectMapper
import hudiidx.{Fixtures, TableFormat, TableFormats}
import hudiidx.log.{LogBlockKind, LogFile, LogFiles}
import hudiidx.table.TableSchema
import hudiidx.spark.{Answer, SparkSuite}
import hudiidx.spark.pinned.{RowSchema, SharedTable}
import hudiidx.storage.{LocalStorage, RandomReader}
import hudiidx.sync.IndexOptions
import org.apache.avro.Schema
import org.apache.avro.generic.{GenericDatumReader, GenericRecord}
import org.apache.avro.io.DecoderFactory
import org.apache.spark.sql.catalyst.CatalystTypeConverters
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}
import org.apache.spark.sql.{DataFrame, Row}
import scala.collection.JavaConverters._
import scala.collection.mutable

/** Rows of the log blocks of stock Hudi's tables. */
final class LogRowsSuite extends SparkSuite {
  private val mapper = new ObjectMapper

  private def schemaOf(name: String): StructType = {
    val table = SharedTable.open(spark, Fixtures.table(name), IndexOptions())
    RowSchema.of(table.config, table.context.schema().get, "UTC").struct
  }

  private def eachReader(name: String, metadata: Boolean)(use: RandomReader => Unit): Unit =
    LogFiles.of(name).filter(f => f.contains("/.hoodie/") == metadata && !f.endsWith(".cdc")).foreach { path =>
      val reader = LocalStorage.open(path)
      try use(reader)
      finally reader.close()
    }

  private val dataKinds = Set[Any](LogBlockKind.AvroData, LogBlockKind.HFileData, LogBlockKind.ParquetData)

  /** Every row of every data block, as the table's columns. */
  private def logRows(name: String, kinds: mutable.Set[LogBlockKind]): DataFrame = {
    val schema = schemaOf(name)
    val version = name.drop(1).takeWhile(_.isDigit).toInt
    val rules = ColumnRules.of(TableFormats.of(version), caseSensitive = false)
    val toScala = CatalystTypeConverters.createToScalaConverter(schema)
    val rows = new java.util.ArrayList[Row]
    val blocks = new BlockRowsReader(schema, None, rules)
    eachReader(name, metadata = false) { reader =>
      LogFile.blocks(reader).filter(b => dataKinds(b.kind)).foreach { block =>
        kinds += block.kind
        val found = blocks.open(reader, block)
        val into = PlainValues.vectors(schema)
        var count = 0
        while (found.next()) {
          found.append(into)
          count += 1
        }
        found.close()
        val batch = new ColumnarBatch(into.toArray[ColumnVector], count)
        (0 until count).foreach(i => rows.add(toScala(batch.getRow(i).copy()).asInstanceOf[Row]))
      }
    }
    spark.createDataFrame(rows, schema)
  }

  /** Commit time and key of a row's text. */
  private def version(text: String): (String, String) = {
    val row = mapper.readTree(text)
    (row.get("_hoodie_commit_time").asText, row.get("_hoodie_record_key").asText)
  }

  for (
    name <- Vector("mor-types", "mor-evolution", "mor-bucket-parquet", "mor-log-only")
      .flatMap(n => Seq(s"v6-$n", s"v9-$n"))
  )
    test(s"$name: the rows of its log blocks are those that stock Hudi's snapshot shows of them") {
      val kinds = mutable.Set.empty[LogBlockKind]
      val ours = Answer.of(logRows(name, kinds)).rows.map(r => version(r) -> r).toMap
      val snapshot = Fixtures.json(name).get("snapshot")
      val stock = (snapshot.path("rows").asScala ++ snapshot.path("sample_rows").asScala).map(_.asText).toVector
      val shared = stock.filter(s => ours.contains(version(s)))
      assert(
        shared.nonEmpty && shared.map(s => s -> ours(version(s))).filter(p => p._1 != p._2).take(2) === Vector.empty
      )
      if (name.endsWith("parquet")) assert(kinds === Set(LogBlockKind.AvroData, LogBlockKind.ParquetData))
    }

  for (name <- Vector("v6-mor-part", "v9-many-indexes"))
    test(s"$name: values of the metadata table's HFile blocks are those that Avro's reader gives") {
      var rows = 0
      eachReader(name, metadata = true) { reader =>
        LogFile.blocks(reader).filter(_.kind == LogBlockKind.HFileData).foreach { block =>
          val schema = new Schema.Parser().parse(block.schema.get)
          val columns = AvroSchemaConverter.structType(schema, reader.path)
          val found =
            new BlockRowsReader(columns, None, ColumnRules.of(TableFormat.V9, caseSensitive = true)).open(reader, block)
          val cells = hudiidx.hfile.HFileReader
            .open(LogFile.contentReader(reader, block), new hudiidx.hfile.BlockCache(0L), new hudiidx.DamagedTable(_))
            .scan()
          val avro = new GenericDatumReader[GenericRecord](schema)
          while (found.next()) {
            assert(cells.next() && found.key.text === new String(cells.key, "UTF-8"))
            val into = PlainValues.vectors(columns)
            found.append(into)
            val expected = avro.read(null, DecoderFactory.get.binaryDecoder(cells.value, null))
            assert(PlainValues.rows(into, 1, columns).head === PlainValues.record(expected))
            rows += 1
          }
          assert(!cells.next())
        }
      }
      assert(rows > 20)
    }

  test("rows can be skipped, in any kind of block") {
    for (name <- Seq("v9-mor-bucket-parquet", "v9-mor-part")) {
      val schema = StructType(schemaOf(name).filter(f => TableSchema.MetaColumns.contains(f.name)))
      eachReader(name, metadata = false) { reader =>
        LogFile.blocks(reader).filter(b => dataKinds(b.kind)).foreach { block =>
          def keys(skips: Int): Vector[Map[String, Any]] = {
            val into = PlainValues.vectors(schema)
            val found = new BlockRowsReader(schema, None, ColumnRules.of(TableFormat.V9, caseSensitive = true))
              .open(reader, block)
            var count = 0
            found.skip(skips)
            while (found.next()) {
              found.append(into)
              count += 1
              found.skip(skips)
            }
            found.close()
            PlainValues.rows(into, count, schema)
          }
          val all = keys(0)
          assert(keys(2) === all.indices.filter(_ % 3 == 2).map(all(_)))
        }
      }
    }
  }
}
