package hudiidx.spark

import hudiidx.{Fixtures, OtherForms}
import hudiidx.spark.api.HudiIdxApi
import hudiidx.TestSettings

/** Data files of forms that are not known: Lance and others, logs of table version 10. */
final class OtherFormsSuite extends SparkSuite with EveryCall {

  private val Written = Vector(
    "v6-no-mdt-cow" -> ".lance",
    "v9-no-mdt-mor" -> "_1.log.parquet",
    "v9-cdc-cow" -> "_1.cdc.parquet",
    "v6-mor-part" -> "_1.deletes.hfile",
    "v9-cow-part" -> ".orc"
  )

  private def keyOf(name: String): String =
    Fixtures.json(name).get("key_location").get("rows").get(0).get(0).asText

  for ((name, form) <- TestSettings.some(3)(Written); state <- Seq("with an index", "without an index"))
    test(s"$name: a commit that wrote files of another form is refused in every call, $state") {
      val isIndexed = state == "with an index"
      val table = Fixtures.copy(name)
      val api = new HudiIdxApi(spark, table, java.util.Map.of("hudiidx.record.mode", "global"))
      if (isIndexed) api.create(): Unit
      OtherForms.write(table, form)
      val key = keyOf(name)
      val calls = onFiles(table, key) ++ (if (isIndexed) onIndex(table) else Vector.empty) ++
        (if (name.contains("-cdc-")) Some(ofChanges(table)) else None) ++
        (if (name.contains("-mor")) Vector(append(table), compaction(table)) else Vector.empty)
      refuse(table, calls, form, OtherForms.Instant)
    }

  for (name <- Seq("v6-no-mdt-cow", "v9-no-mdt-mor"))
    test(s"$name: files of such forms that no commit wrote are no files of the table, with an index and without") {
      val table = Fixtures.copy(name)
      def views = Seq("files", "latest_base_files", "all_file_slices").map { view =>
        read(table, "view" -> view).collect().map(_.toString).toVector.sorted
      }
      val before = views
      val left = OtherForms.leave(table)
      assert(left.size >= OtherForms.All.size)
      val api = new HudiIdxApi(spark, table, java.util.Map.of())
      for (isIndexed <- Seq(false, true)) {
        if (isIndexed) api.create(): Unit
        Answer.expect(Fixtures.json(name).get("snapshot"), Answer.of(read(table)))
        assert(views === before)
      }
      assert(api.verify().contains("\"ok\":true"))
    }
}
