package hudiidx.log

import java.nio.file.{Files, Paths}

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}
import hudiidx.storage.LocalStorage
import hudiidx.{DamagedTable, Fixtures, UnsupportedTable}
import org.scalatest.funsuite.AnyFunSuite

class ChangeRecordsSuite extends AnyFunSuite {
  private val json = new ObjectMapper

  private def filesOf(table: String): Vector[String] =
    Fixtures.filesBelow(table).filter(_.endsWith(".cdc")).map(f => Paths.get(table, f).toString)

  private def images(file: String): ObjectNode = {
    val reader = LocalStorage.open(file)
    val schema =
      try LogFile.blocks(reader).next().schema.get
      finally reader.close()
    val before = json.readTree(schema).get("fields").elements
    val field = Iterator.continually(before.next()).find(_.get("name").asText == "before").get
    field.get("type").get(1).asInstanceOf[ObjectNode]
  }

  private def records(file: String, columns: String, leastBytes: Long = 1L): Vector[ChangeRecord] = {
    val found = Vector.newBuilder[ChangeRecord]
    val records = ChangeRecords.open(LocalStorage, file, columns, floatsByText = true, leastBytes)
    try records.foreach(found += _)
    finally records.close()
    found.result()
  }

  test("each mode keeps what it says: both images, the one before with the key, the key alone") {
    val both = filesOf(Fixtures.table("v9-cdc-cow")).flatMap(f => records(f, images(f).toString))
    assert(both.groupBy(_.op).map { case (op, all) => op -> all.size } === Map("i" -> 30, "u" -> 50, "d" -> 5))
    assert(both.forall(r => r.key.isEmpty && r.before.isDefined && r.after.isDefined))
    assert(both.filter(_.op == "i").forall(_.before.contains("null")))
    assert(both.filter(_.op == "d").forall(r => r.after.contains("null") && r.before.exists(_.startsWith("{\"id\": "))))
    val one = filesOf(Fixtures.part("changes-cow-data-before")).flatMap(f => records(f, images(f).toString))
    assert(one.nonEmpty && one.forall(r => r.key.isDefined && r.before.isDefined && r.after.isEmpty))
    val keys = filesOf(Fixtures.part("changes-cow-op-key-only")).flatMap(f => records(f, "{\"type\":\"string\"}"))
    assert(keys.map(r => (r.op, r.key)).sortBy(_.toString) === one.map(r => (r.op, r.key)).sortBy(_.toString))
    assert(keys.forall(r => r.before.isEmpty && r.after.isEmpty))
  }

  test("images have the table's present columns, one that came later as null") {
    val file = filesOf(Fixtures.table("v9-cdc-cow")).head
    val columns = images(file)
    val more = columns.deepCopy()
    more.withArray[ArrayNode]("/fields").add(json.readTree("""{"name":"later","type":["null","int"],"default":null}"""))
    val plain = records(file, columns.toString)
    val wide = records(file, more.toString)
    assert(wide.map(_.before) === plain.map(_.before.map(t => if (t == "null") t else t.init + ", \"later\": null}")))
    more.withArray[ArrayNode]("/fields").add(json.readTree("""{"name":"needed","type":"int"}"""))
    assert(intercept[UnsupportedTable](records(file, more.toString)).getMessage.contains("needed"))
  }

  test("a file that is gone, cut, or holds other blocks or operations is an error that names it") {
    val table = Fixtures.copy("v9-cdc-cow")
    val file = filesOf(table).head
    val columns = images(file).toString
    val bytes = Files.readAllBytes(Paths.get(file))
    assert(records(file, columns, bytes.length.toLong).nonEmpty)
    val cut = intercept[DamagedTable](records(file, columns, bytes.length + 1L)).getMessage
    assert(cut.contains(s"${bytes.length} bytes, and its commit wrote ${bytes.length + 1}"))
    // The operation stands before the instant, with its length.
    val forged = bytes.clone()
    val at =
      bytes.indices
        .find(i => bytes(i) == 2 && "iud".indexOf(bytes(i + 1).toInt) >= 0 && bytes(i + 2) == 2 && bytes(i + 3) == '"')
        .get
    forged(at + 1) = 'I'
    Files.write(Paths.get(file), forged)
    assert(intercept[DamagedTable](records(file, columns)).getMessage.contains("operation 'I'"))
    Files.write(Paths.get(file), bytes.dropRight(20))
    assert(intercept[DamagedTable](records(file, columns)).getMessage.contains(file))
    val log = Fixtures.filesBelow(Fixtures.table("v9-cdc-mor")).find(_.contains(".log.")).get
    val other = Paths.get(Fixtures.table("v9-cdc-mor"), log).toString
    assert(intercept[DamagedTable](records(other, columns)).getMessage.contains(other))
    Files.delete(Paths.get(file))
    assert(intercept[DamagedTable](records(file, columns)).getMessage.contains(file))
  }
}
