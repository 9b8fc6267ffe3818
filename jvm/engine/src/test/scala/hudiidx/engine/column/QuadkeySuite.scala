package hudiidx.engine.column

import java.nio.ByteBuffer

import hudiidx.column._
import hudiidx.parquet.{ParquetLayout, ParquetTables}
import hudiidx.storage.LocalStorage
import hudiidx.table.FileKind
import hudiidx.{Fixtures, InvalidOption}
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.example.data.Group
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** The kind of index of examples/quadkey, found on the class path as a user's would be. */
class QuadkeySuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val places = Gen.zip(coordinate(180), coordinate(90))

  private def coordinate(most: Double): Gen[Double] = Gen.frequency(
    8 -> Gen.choose(-most, most),
    1 -> Gen.oneOf(0.0, -0.0, most, -most, 2 * most, Double.NaN, Double.PositiveInfinity, Double.NegativeInfinity)
  )

  private def box(min: Double, max: Double): ValueSet =
    new ValueSet.Longs(Array(ColumnType.ofDouble(min)), Array(ColumnType.ofDouble(max)))

  private def mightMatch(record: ColumnRecord, lon: ValueSet, lat: ValueSet): Boolean = {
    val wanted = Vector(lon, lat).map(s => Some(LeafTest(nulls = false, Some(s))))
    IndexKind.find("quadkey").get.test(record.columns, wanted).get.mightMatch(ByteBuffer.wrap(record.bytes))
  }

  private def recordOf(rows: Seq[(Double, Double)], options: Map[String, String]): Option[ColumnRecord] = {
    val path = ParquetTables.write(
      "message m { optional double lon; optional double lat; }",
      ParquetLayout(CompressionCodecName.UNCOMPRESSED, WriterVersion.PARQUET_1_0, dictionary = true, 1 << 12, 1 << 20),
      rows.map { case (lon, lat) => (g: Group) => { g.append("lon", lon).append("lat", lat); () } } :+ ((_: Group) =>
        ()
      )
    )
    val table = new TableFiles(Fixtures.table("v9-cow-part")).columns
    val file = LocalStorage.open(path)
    try
      new FileRecords(table, Vector(IndexSpec("quadkey", Vector("lon", "lat"), options)))
        .of(file, FileKind.Parquet)
        .headOption
    finally file.close()
  }

  test("no place that a file has is ruled out, however coarse the cells have to be") {
    forAll(Gen.nonEmptyListOf(places), Gen.choose(1, 20), Gen.choose(1, 8), minSuccessful(40)) { (rows, level, most) =>
      val record = recordOf(rows, Map("level" -> level.toString, "most" -> most.toString)).get
      rows.foreach { case (lon, lat) => assert(mightMatch(record, box(lon, lon), box(lat, lat)), (lon, lat)) }
    }
  }

  test("a box between the places of a file is ruled out, where the bounds of both columns allow it") {
    val record = recordOf(Seq(10.0 -> 60.0, 11.0 -> 59.9, -70.0 -> -12.0), Map.empty).get
    assert(mightMatch(record, box(10.5, 11.5), box(59, 61)))
    assert(!mightMatch(record, box(-30, -20), box(0, 20)))
    assert(!mightMatch(record, box(9, 12), box(-13, -11)))
  }

  test("the kind is made of a table's columns by its name, and refuses what it cannot index") {
    val path = Fixtures.copy("v9-cow-types")
    ColumnPartSuite.create(path, ColumnOptionsOf.others("quadkey(c_double,c_float,level=8)"))
    assert(ColumnPartSuite.known(path) === Set("quadkey(c_double,c_float)"))
    for (bad <- Seq("quadkey(c_double)", "quadkey(c_double,id)", "quadkey(c_double,c_float,level=99)"))
      intercept[InvalidOption](ColumnPartSuite.create(path, ColumnOptionsOf.others(bad)))
  }
}

private object ColumnOptionsOf {
  def others(text: String): hudiidx.sync.ColumnOptions = hudiidx.sync.ColumnOptions(others = Some(text))
}
