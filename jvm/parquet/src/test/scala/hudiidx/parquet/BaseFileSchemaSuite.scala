package hudiidx.parquet

import hudiidx.Fixtures
import hudiidx.storage.LocalStorage
import org.apache.avro.Schema
import org.apache.parquet.hadoop.ParquetFileReader
import org.scalatest.funsuite.AnyFunSuite

/** Held against base files of stock Hudi's Avro writers, of fixtures. */
class BaseFileSchemaSuite extends AnyFunSuite {

  // Whatever the sample is: all types, and schemas that changed.
  private val Always = Vector("v6-cow-types", "v9-cow-types", "v6-cow-evolution", "v9-cow-evolution")

  test("the Parquet schema of an Avro schema is that of stock Hudi's base files") {
    val files = for {
      name <- (Fixtures.sampled(this) ++ Always).distinct
      file <- Fixtures.filesBelow(Fixtures.table(name)) if file.endsWith(".parquet")
    } yield s"${Fixtures.table(name)}/$file"
    val compared = files.filterNot(_.contains("/.hoodie/")).flatMap { file =>
      val reader = ParquetFileReader.open(new StorageInputFile(LocalStorage, file))
      try {
        val meta = reader.getFooter.getFileMetaData
        Option(meta.getKeyValueMetaData.get("parquet.avro.schema")).map { avro =>
          val made = BaseFileSchema.of(new Schema.Parser().setValidateDefaults(false).parse(avro), file)
          assert(made.toString === meta.getSchema.toString, file)
          made.toString
        }
      } finally reader.close()
    }
    assert(compared.distinct.size > 3)
  }
}
