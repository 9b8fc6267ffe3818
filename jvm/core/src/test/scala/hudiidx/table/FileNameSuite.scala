package hudiidx.table

import org.scalatest.funsuite.AnyFunSuite

class FileNameSuite extends AnyFunSuite {
  private val group = "136281f3-c24e-423b-a65a-95dbfbddce1d-0"

  private def parsed(name: String): Option[FileEntry] = FileName.parse("p", name, 1L)

  test("logs of table version 10 are neither base files nor logs, whatever their form") {
    for (
      kind <- Seq("log", "deletes", "cdc"); form <- Seq("parquet", "hfile", "orc", "lance"); token <- Seq("1-0-1", "0")
    )
      assert(parsed(s"${group}_${token}_20250409161256974_3.$kind.$form") === None)
    for (form <- hudiidx.OtherForms.All) {
      val name = s"${group}_1-0-1_20250409161256974$form"
      assert(DataFiles(Set(FileKind.Parquet)).entry("p", name, 1L) === None)
      assert(FileName.instantOf(name) === Some("20250409161256974"))
    }
    for (other <- Seq(s".$group", ".hoodie_partition_metadata", "a_b_c.parquet", "part-0000.parquet"))
      assert(FileName.instantOf(other) === None)
    assert(parsed(s"${group}_1-0-1_20250409161256974.parquet").map(_.kind) === Some(FileKind.Parquet))
    assert(parsed(s".${group}_20250409161256974.log.3_1-0-1").map(_.kind) === Some(FileKind.Log))
  }
}
