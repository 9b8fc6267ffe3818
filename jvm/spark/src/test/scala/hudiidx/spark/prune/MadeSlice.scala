package hudiidx.spark.prune

import hudiidx.column.ColumnCondition._
import hudiidx.column.{ColumnCondition, ColumnStats, ColumnType, LeafTest}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._
import org.scalacheck.Gen

/** The files of a slice hold values of columns; a row has of each column a value of one of the files. */
final case class MadeSlice(rows: Vector[InternalRow], files: Vector[Map[String, (ColumnType, ColumnStats)]]) {
  override def toString: String =
    files.map(_.toVector.sortBy(_._1).mkString("\n  ")).mkString("file\n  ", "\nfile\n  ", "")
}

object MadeSlice {

  /** Values of one column in one file as readers show them, and its statistics. */
  private def column(t: DataType): Gen[(Vector[Any], (ColumnType, ColumnStats))] = {
    val types = (t, identity[Any] _) +: ColumnValues.older(t)
    for {
      (stored, widen) <- Gen.frequency(3 -> Gen.const(types.head), 1 -> Gen.oneOf(types))
      distinct <- Gen.choose(0, 3).flatMap(Gen.listOfN(_, ColumnValues.of(stored)))
      nulls <- Gen.frequency(3 -> 0, 2 -> 1)
      values = distinct.toVector ++ Vector.fill(if (distinct.isEmpty) 1 else nulls)(null)
      found <- ColumnValues.stats(values, stored)
    } yield (values.map(v => if (v == null) null else widen(v)), ValueCode.columnType(stored).get -> found)
  }

  private val names: Vector[(String, DataType)] = ColumnValues.Columns.fields.toVector.flatMap { f =>
    f.dataType match {
      case s: StructType => s.fields.toVector.map(g => s"${f.name}.${g.name}" -> g.dataType)
      case t             => Vector(f.name -> t)
    }
  }

  private val file: Gen[Map[String, (Vector[Any], (ColumnType, ColumnStats))]] =
    names.foldLeft(Gen.const(Map.empty[String, (Vector[Any], (ColumnType, ColumnStats))])) { case (sofar, (name, t)) =>
      for (m <- sofar; c <- column(t)) yield m + (name -> c)
    }

  val any: Gen[MadeSlice] = for {
    count <- Gen.frequency(3 -> 1, 1 -> 2)
    files <- Gen.listOfN(count, file)
    rows <- Gen.listOfN(8, row(files.toVector))
  } yield MadeSlice(rows.toVector, files.toVector.map(_.map { case (name, (_, s)) => name -> s }))

  private def row(files: Vector[Map[String, (Vector[Any], (ColumnType, ColumnStats))]]): Gen[InternalRow] = {
    def value(name: String): Gen[Any] = Gen.oneOf(files).flatMap(f => Gen.oneOf(f(name)._1))
    ColumnValues.Columns.fields
      .foldLeft(Gen.const(Vector.empty[Any])) { (sofar, f) =>
        val next = f.dataType match {
          case s: StructType =>
            s.fields
              .foldLeft(Gen.const(Vector.empty[Any])) { (inner, g) =>
                for (before <- inner; v <- value(s"${f.name}.${g.name}")) yield before :+ v
              }
              .map(vs => if (vs.forall(_ == null)) null else InternalRow.fromSeq(vs))
          case _ => value(f.name)
        }
        for (before <- sofar; v <- next) yield before :+ v
      }
      .map(InternalRow.fromSeq)
  }

  /** A part holds of a slice if it holds of one of its files; parts are put together by slice. */
  def holds(condition: ColumnCondition, slice: MadeSlice): Boolean = condition match {
    case Anything(_) => true
    case Nothing     => false
    case And(all)    => all.forall(holds(_, slice))
    case Or(any)     => any.exists(holds(_, slice))
    case leaf: In    =>
      slice.files.exists(f => f.get(leaf.path).forall { case (t, s) => LeafTest.of(leaf, t).mightMatch(s) })
  }
}
