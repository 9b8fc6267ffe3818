package hudiidx.sync

import hudiidx.DamagedIndex
import hudiidx.record.{HashRange, RecordProperty}
import hudiidx.store.{Coverage, IndexFile, IndexVersion, TableIdentity}
import org.scalatest.funsuite.AnyFunSuite

/** Numbers of an index version may be forged, with a right checksum: the version is damaged then, and reads go without it. */
class VersionNumbersSuite extends AnyFunSuite {

  private def version(properties: (String, String)*): IndexVersion = IndexVersion(
    7L,
    TableIdentity("t", "COPY_ON_WRITE"),
    Coverage("20260101000000000", Vector.empty, Vector.empty),
    Vector(IndexFile("a", "k", 1L)),
    properties.toMap,
    8L,
    "w"
  )

  private def decoded(v: IndexVersion): IndexVersion = IndexVersion.decode(IndexVersion.encode(v), "/t/versions/7.json")

  test("every number among the properties is read under its bounds") {
    val manifest = Set(
      ManifestProperty.MasterFiles,
      ManifestProperty.MasterPartitions,
      ManifestProperty.DeltaAdded,
      ManifestProperty.DeltaRemoved,
      ManifestProperty.DeltaAddedPartitions,
      ManifestProperty.DeltaRemovedPartitions,
      ManifestProperty.NextFileNumber,
      ManifestProperty.EntriesPerPage,
      ManifestProperty.BlockBytes
    )
    val record = Set(
      RecordProperty.WindowDays,
      RecordProperty.Groups,
      RecordProperty.Mappings,
      RecordProperty.FileGroups,
      RecordProperty.GroupBytes,
      RecordProperty.NextOrdinal
    )
    assert(IndexVersion.Numbers.keySet === manifest ++ record)
  }

  test("a forged number is a damaged version, by file, property and value") {
    val bad = Seq("", "-1", "x", " 1", "1e9", "1.0", "0x10", "\u0663", "99999999999999999999", "1" * 100000, "NaN")
    for ((name, most) <- IndexVersion.Numbers) {
      val least = IndexVersion.Least.getOrElse(name, 0L)
      for (value <- bad ++ Seq((most + 1).toString, (least - 1).toString)) {
        val e = intercept[DamagedIndex](decoded(version(name -> value)))
        assert(e.getMessage.startsWith("/t/versions/7.json: ") && e.getMessage.contains(s"$name=${value.take(100)}"))
        assert(e.getMessage.length < 400)
      }
      for (value <- Seq(least, least + 7, most)) assert(decoded(version(name -> value.toString)).long(name) === value)
    }
    assert(IndexVersion.Numbers(RecordProperty.FileGroups) === HashRange.MaxGroups)
  }

  test("a property that is one of some words has no other") {
    for ((name, words) <- IndexVersion.Words) {
      words.foreach(w => assert(decoded(version(name -> w)).properties(name) === w))
      for (value <- Seq("", "x", "GLOBAL", "1", "x" * 100000)) {
        val e = intercept[DamagedIndex](decoded(version(name -> value)))
        assert(e.getMessage.startsWith("/t/versions/7.json: ") && e.getMessage.contains(s"$name=${value.take(100)}"))
        assert(e.getMessage.length < 400)
      }
    }
    assert(IndexVersion.Words(RecordProperty.Mode) === IndexOptions.RecordModes)
    assert(IndexVersion.Words.keySet === Set(RecordProperty.Mode, hudiidx.column.ColumnProperty.Complete))
  }

  test("forged numbers of the version itself, and of its files, are damage") {
    val forged = Seq(
      version().copy(number = -1),
      version().copy(createdAtMillis = -1),
      version().copy(createdAtMillis = 253402300800000L),
      version().copy(createdAtMillis = Long.MaxValue),
      version().copy(files = Vector(IndexFile("a", "k", -5)))
    )
    forged.foreach(v => intercept[DamagedIndex](decoded(v)))
    assert(decoded(version()) === version())
  }
}
