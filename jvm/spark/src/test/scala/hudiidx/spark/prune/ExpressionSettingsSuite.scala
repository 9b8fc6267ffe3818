package hudiidx.spark.prune

import scala.collection.mutable
import scala.util.Try

import hudiidx.column.expression.ExpressionFunctions
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.internal.SQLConf
import org.apache.xbean.asm9.{ClassReader, ClassVisitor, MethodVisitor, Opcodes}
import org.scalatest.funsuite.AnyFunSuite

/** Which of a session's settings the classes of the listed functions ask for, by their bytecode. */
final class ExpressionSettingsSuite extends AnyFunSuite {
  import ExpressionSettingsSuite._

  private lazy val asked: Map[String, Set[String]] = keysOf(Calls.from(Starts))

  test(
    "whatever setting a listed function's class asks for is a fact of expressions, or changes none of their values"
  ) {
    val open = asked.filter { case (key, _) => !ExpressionFacts.decides(key) && !ChangeNoValue.contains(key) }
    assert(open === Map.empty, "make them facts, or say here why they change no value")
  }

  test(
    "the walk finds settings that are asked for by getters, by entries, by types' rules and by functions that are replaced"
  ) {
    Vector(
      "spark.sql.ansi.enabled",
      "spark.sql.legacy.timeParserPolicy",
      "spark.sql.legacy.sizeOfNull",
      "spark.sql.timestampType",
      "spark.sql.mapKeyDedupPolicy",
      "spark.sql.chunkBase64String.enabled",
      "spark.sql.function.concatBinaryAsString",
      "spark.sql.function.eltOutputAsString"
    ).foreach(key => assert(asked.contains(key) && ExpressionFacts.decides(key), key))
  }
}

object ExpressionSettingsSuite {

  /** Each with the reason. */
  private val ChangeNoValue: Map[String, String] = Map(
    "spark.sql.session.timeZone" -> "the fact zone",
    "spark.sql.analyzer.canonicalization.multiCommutativeOpMemoryOptThreshold" -> "how expressions are compared",
    "spark.sql.storeAssignmentPolicy" -> "what errors say",
    "spark.sql.alwaysInlineCommonExpr" -> "how often parts are evaluated",
    "spark.sql.preserveCharVarcharTypeInfo" -> "types that no expression may have",
    "spark.sql.charAsVarchar" -> "types that no expression may have",
    "spark.sql.geospatial.enabled" -> "types that no expression may have",
    "spark.sql.timeType.enabled" -> "whether a type is refused",
    "spark.sql.caseSensitive" -> "asked for defaults of columns, which no expression has",
    "spark.sql.defaultColumn.allowedProviders" -> "defaults of columns, which no expression has",
    "spark.sql.defaultColumn.enabled" -> "defaults of columns, which no expression has",
    "spark.sql.mapZipWithUsesJavaCollections" -> "a function that is not listed, which rules of types name",
    "spark.sql.codegen.cache.maxEntries" -> "how code is made",
    "spark.sql.codegen.comments" -> "how code is made",
    "spark.sql.codegen.factoryMode" -> "how code is made",
    "spark.sql.codegen.logLevel" -> "what is logged",
    "spark.sql.codegen.logging.maxLines" -> "what is logged",
    "spark.sql.codegen.methodSplitThreshold" -> "how code is made",
    "spark.sql.debug.maxToStringFields" -> "what is shown",
    "spark.sql.optimizer.inSetSwitchThreshold" -> "how code is made",
    "spark.sql.optimizer.mapLookupHashThreshold" -> "how a key of a map is searched",
    "spark.sql.subexpressionElimination.cache.maxEntries" -> "how code is made",
    "spark.sql.subexpressionElimination.enabled" -> "how code is made",
    "spark.sql.subexpressionElimination.skipForShortcutExpr" -> "how code is made"
  )

  private val Catalyst = "org/apache/spark/sql/catalyst/"
  private val Rules = Vector("TypeCoercion$", "AnsiTypeCoercion$").map(Catalyst + "analysis/" + _)
  private val Followed = Vector("expressions/", "util/", "analysis/TypeCoercion", "analysis/AnsiTypeCoercion")
    .map(Catalyst + _) :+ "org/apache/spark/unsafe/types/"
  private val Getters = "org/apache/spark/sql/internal/SQLConf"
  private val SharedGetters = "org/apache/spark/sql/internal/SqlApiConf"
  private val Entries = Getters + "$"

  private val Starts: Vector[String] = Rules ++ ExpressionFunctions.names.flatMap(n =>
    FunctionRegistry.builtin.lookupFunction(LineFunctions.builtin(n)).map(_.getClassName.replace('.', '/'))
  ) ++ Vector(classOf[Cast], classOf[In], classOf[InSet], classOf[TimestampAdd], classOf[TimestampDiff])
    .map(_.getName.replace('.', '/'))

  /** Keys of settings, with the classes that ask for them. */
  private def keysOf(calls: Map[String, Set[Call]]): Map[String, Set[String]] = {
    lazy val behindGetters = Calls.of(Getters).groupBy(_.in).map { case (m, found) => m -> entries(found) }
    val found = for {
      (name, ofClass) <- calls.toVector
      key <- entries(ofClass) ++ ofClass
        .filter(c => c.owner == Getters || c.owner == SharedGetters)
        .flatMap(c => behindGetters.getOrElse(c.method, Set.empty[String]))
    } yield key -> name
    found.groupBy(_._1).map { case (key, by) => key -> by.map(_._2).toSet }
  }

  private def entries(calls: Set[Call]): Set[String] = calls.filter(_.owner == Entries).flatMap { c =>
    val getter = SQLConf.getClass.getMethods.find(m => m.getName == c.method && m.getParameterCount == 0)
    getter.map(_.invoke(SQLConf)).flatMap(e => Try(e.getClass.getMethod("key").invoke(e).toString).toOption)
  }

  /** A method of a class, which some method calls. */
  final private case class Call(in: String, owner: String, method: String)

  private object Calls {

    /** Of these classes and all that they call among those that evaluate. */
    def from(starts: Seq[String]): Map[String, Set[Call]] = {
      val found = mutable.Map.empty[String, Set[Call]]
      val queue = mutable.Queue(starts: _*)
      while (queue.nonEmpty) {
        val name = queue.dequeue()
        if (!found.contains(name)) {
          found(name) = of(name)
          queue ++= found(name).map(_.owner).filter(owner => Followed.exists(owner.startsWith(_)))
        }
      }
      found.toMap
    }

    def of(name: String): Set[Call] = {
      val in = getClass.getClassLoader.getResourceAsStream(name + ".class")
      if (in == null) Set.empty
      else
        try {
          val found = mutable.Set.empty[Call]
          new ClassReader(in).accept(visitor(found += _), ClassReader.SKIP_DEBUG)
          found.toSet
        } finally in.close()
    }

    private def visitor(tell: Call => Unit): ClassVisitor = new ClassVisitor(Opcodes.ASM9) {
      override def visit(v: Int, a: Int, n: String, s: String, parent: String, traits: Array[String]): Unit =
        (parent +: traits).filter(_ != null).foreach(t => tell(Call("", t, "")))

      override def visitMethod(a: Int, in: String, d: String, s: String, e: Array[String]): MethodVisitor =
        new MethodVisitor(Opcodes.ASM9) {
          override def visitMethodInsn(op: Int, owner: String, n: String, d: String, i: Boolean): Unit =
            tell(Call(in, owner, n))
          override def visitFieldInsn(op: Int, owner: String, n: String, d: String): Unit = tell(Call(in, owner, ""))
        }
    }
  }
}
