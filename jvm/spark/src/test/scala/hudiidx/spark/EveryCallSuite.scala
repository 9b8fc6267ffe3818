package hudiidx.spark

import hudiidx.command.CommandLine
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.options.ReadOptions
import hudiidx.spark.procedure.Procedures
import scala.reflect.runtime.universe.typeOf

/** The list of every call has all that there is: what is added to the product, and is not in it, fails here. */
final class EveryCallSuite extends SparkSuite with EveryCall {
  private lazy val names: Vector[String] = everyCall("/nowhere", "k").map(_._1)

  /** Names that follow a word, up to a space or a bracket. */
  private def behind(word: String): Set[String] =
    names.filter(_.startsWith(word)).map(_.drop(word.length).takeWhile(c => c != ' ' && c != '(')).toSet

  test("methods of the face for other languages") {
    // Not by Java's reflection, to which what is protected is public.
    val members = typeOf[HudiIdxApi].members.filter(m => m.isMethod && m.isPublic && !m.isConstructor)
    val own = members.filter(_.owner.fullName.startsWith("hudiidx.")).map(_.name.toString).toSet
    // They remove the index of any table, close any handle, and look at a text alone.
    val others = Set("drop", "close", "requireFilter")
    assert(own.size > 20 && others.subsetOf(own))
    assert((own -- others).filterNot(m => names.exists(n => n == m || n.startsWith(s"$m "))) === Set.empty)
  }

  test("procedures and table functions") {
    assert(behind("CALL ") === Procedures.All.map(_.name).toSet)
    val registry = EveryStatement.session.sessionState.tableFunctionRegistry
    assert(
      names.filter(_.startsWith("hudiidx_")).map(_.takeWhile(_ != '(')).toSet ===
        registry.listFunction().map(_.funcName).filter(_.startsWith("hudiidx_")).toSet
    )
  }

  test("commands that need no session") {
    assert(behind("command ") === CommandLine.Commands.toSet + "prune")
  }

  test("views and kinds of queries") {
    assert(behind("view ") + ReadOptions.RowsView === ReadOptions.Views.toSet)
    val kinds = Set(
      "rows" -> ReadOptions.Snapshot,
      "read_optimized" -> ReadOptions.ReadOptimized,
      "incremental" -> ReadOptions.Incremental
    )
    assert(kinds.map(_._2) === ReadOptions.QueryTypes.toSet && kinds.forall(k => names.contains(k._1)))
  }
}
