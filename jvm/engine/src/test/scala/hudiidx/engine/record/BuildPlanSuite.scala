package hudiidx.engine.record

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import hudiidx.{Fixtures, NumberSites}
import hudiidx.record.{HashRange, RecordProperty}
import hudiidx.storage.LocalStorage
import org.scalatest.funsuite.AnyFunSuite

/** What a plan in the index folder says is input: one with a value that none has is skipped, and the runs are made anew. */
class BuildPlanSuite extends AnyFunSuite {

  private val settings = RecordSettings("global", Some(7), None, Some(4), Some(100000L))
  private val honest = new String(BuildPlanJson.encode(BuildPlan(settings, 4, Vector.empty)), UTF_8)

  private def found(json: String): Option[BuildPlan] = {
    val dir = Fixtures.newFolder("hudiidx-plan").toString
    Files.write(Path.of(dir, "0123456789.plan.json"), json.getBytes(UTF_8))
    new RunFolder(LocalStorage, dir).plan(_ => true).map(_._2)
  }

  test("a plan is read as it was written") {
    assert(found(honest).contains(BuildPlan(settings, 4, Vector.empty)))
  }

  test("a plan whose properties or numbers no plan has is skipped, each of them, and the error names it") {
    val properties = settings.properties
    assert(properties.keySet === RecordSettingsProperties)
    def forged(name: String, old: String, text: String): Unit = {
      val json = honest.replace(s""""$name":"$old"""", s""""$name":${quoted(text)}""")
      assert(json !== honest, name)
      assert(found(json).isEmpty, s"$name=${text.take(40)}")
      val e = intercept[IllegalArgumentException](BuildPlanJson.decode(json.getBytes(UTF_8)))
      assert(!e.isInstanceOf[NumberFormatException] && e.getMessage.contains(name), e)
    }
    val texts = NumberSites.hostile.filterNot(Set("0", "9223372036854775807", "2147483648"))
    for ((name, old) <- properties; text <- texts) forged(name, old, text)
    for (groups <- Seq("-1", (HashRange.MaxGroups + 1).toString, "99999999999999999999", "\"4\"", "1.5", "{}"))
      assert(found(honest.replace("\"groups\":4", "\"groups\":" + groups)).isEmpty, groups)
    for (size <- Seq("-1", "1e30", "\"1\""))
      assert(found(honest.replace("[]", s"""[{"name":"0.x.0123456789.record_groups","size":$size}]""")).isEmpty, size)
    assert(found(honest.replace("\"record.mode\":\"global\",", "")).isEmpty)
    Seq("", "{}", "[]", "null", "7", "[" * 100000).foreach(json => assert(found(json).isEmpty))
  }

  private val RecordSettingsProperties =
    Set(RecordProperty.Mode, RecordProperty.WindowDays, RecordProperty.FileGroups, RecordProperty.GroupBytes)

  private def quoted(text: String): String =
    new com.fasterxml.jackson.databind.ObjectMapper().writeValueAsString(text)
}
