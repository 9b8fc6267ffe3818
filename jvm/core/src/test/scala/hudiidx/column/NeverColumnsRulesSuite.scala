package hudiidx.column

import hudiidx.InvalidOption
import hudiidx.column.IndexSpec.{parseAll, All}
import org.scalatest.funsuite.AnyFunSuite

final class NeverColumnsRulesSuite extends AnyFunSuite {
  private val never = NeverColumns.parse("Rider, s.a, `odd.name`")

  test("a column is forbidden by its name in any case, in a struct that is named, and as a struct around one") {
    Seq("rider", "RIDER", "rider.x", "s.a", "S.A", "s.a.b", "s", "`odd.name`").foreach(p => assert(never.forbids(p), p))
    Seq("rider2", "s.b", "t.rider", "odd", "odd.name", "a", All).foreach(p => assert(!never.forbids(p), p))
    assert(!NeverColumns.None.forbids("rider") && !NeverColumns.None.forbids(ColumnExpression("upper(rider)").path))
  }

  test("rules of very many names are held against one another at once") {
    val many = NeverColumns((1 to 200000).map(i => s"c$i").toVector)
    assert(many.covers(NeverColumns(many.paths.reverse)) && !never.covers(many))
  }

  test("an expression is of a column that its text names, in whatever case and quotes") {
    Seq(
      "upper(RIDER)",
      "concat(`rider`, 1)",
      "s",
      "s.a || 'x'",
      "`s`.`a`",
      "length(`odd.name`)",
      "named_struct('x', s)"
    )
      .foreach(sql => assert(never.forbids(ColumnExpression(sql).path), sql))
    Seq("upper(riders)", "qty * 2", "strider(x)").foreach(sql =>
      assert(!never.forbids(ColumnExpression(sql).path), sql)
    )
  }

  test("of ranges the other columns stay, of other kinds the whole index goes") {
    val specs = parseAll("range(rider,fare,s.b);bloom(rider);bloom(fare);quadkey(fare,s.a,level=3)")
    assert(never.allowed(specs) === parseAll("range(fare,s.b);bloom(fare)"))
    assert(never.allowed(parseAll("range(rider)")) === Vector.empty)
    val said = intercept[InvalidOption](never.requireAllowed(specs)).getMessage
    assert(said.startsWith("rider: ") && said.contains("hudiidx.columns.never"))
    never.requireAllowed(parseAll("range(*);bloom(fare)"))
  }

  test("rules are joined, kept as text, and compared by what they forbid") {
    val more = never ++ NeverColumns.parse("fare, Rider")
    assert(more.paths === Vector("Rider", "s.a", "`odd.name`", "fare"))
    assert(NeverColumns.of(more.properties) === more && NeverColumns.of(Map.empty[String, String]).isEmpty)
    assert(more.covers(never) && !never.covers(more) && never.covers(NeverColumns.None))
    Seq("*", "a,upper(b)", "a, b + 1").foreach(text => intercept[InvalidOption](NeverColumns.parse(text)))
  }

  test("columns of Hudi's whose values manifests list cannot be kept out of them, and are refused by name") {
    Seq("_hoodie_partition_path", "_hoodie_file_name", "_HOODIE_File_Name", "`_hoodie_file_name`").foreach { name =>
      val said = intercept[InvalidOption](NeverColumns.parse(s"rider, $name")).getMessage
      assert(said.contains(s"names $name, a column of Hudi's whose values every index lists"))
    }
    assert(NeverColumns.parse("_hoodie_record_key, _hoodie_commit_time").paths.size === 2)
  }
}
