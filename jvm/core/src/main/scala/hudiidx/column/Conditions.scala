package hudiidx.column

import scala.collection.concurrent.TrieMap

import hudiidx.column.ColumnCondition._

/** Makes conditions of conditions, and tells what is in them. */
object Conditions {

  /** All of them hold. What is said of one column becomes one leaf: a row has one value there, so both must hold of it. */
  def and(all: Seq[ColumnCondition]): ColumnCondition = {
    val flat = all.toVector.flatMap { case And(inner) => inner; case other => Vector(other) }
    if (flat.contains(Nothing)) Nothing else simple(joined(flat, both), And)
  }

  /** One of them holds. */
  def or(any: Seq[ColumnCondition]): ColumnCondition = {
    val flat = any.toVector.flatMap { case Or(inner) => inner; case other => Vector(other) }.filter(_ != Nothing)
    flat.collectFirst { case a: Anything => a }.getOrElse {
      if (flat.isEmpty) Nothing
      else if (flat.contains(And(Vector.empty))) And(Vector.empty)
      else simple(joined(flat, either), Or)
    }
  }

  /** The leaf, with the sets of each type made once. */
  def leaf(path: String, nulls: Boolean, noValue: Boolean = false)(ofType: ColumnType => Option[ValueSet]): In = {
    val known = TrieMap.empty[ColumnType, Option[ValueSet]]
    In(path, nulls, t => known.getOrElseUpdate(t, ofType(t)), noValue)
  }

  /** Why parts of the condition tell nothing. */
  def reasons(condition: ColumnCondition): Vector[String] = condition match {
    case Anything(why) => Vector(why)
    case And(all)      => all.flatMap(reasons).distinct
    case Or(any)       => any.flatMap(reasons).distinct
    case _             => Vector.empty
  }

  /** The columns that it speaks of. */
  def paths(condition: ColumnCondition): Vector[String] = condition match {
    case leaf: In => Vector(leaf.path)
    case And(all) => all.flatMap(paths).distinct
    case Or(any)  => any.flatMap(paths).distinct
    case _        => Vector.empty
  }

  private def simple(parts: Vector[ColumnCondition], many: Vector[ColumnCondition] => ColumnCondition) =
    if (parts.length == 1) parts.head else many(parts)

  /** The parts, with the leaves of one column made one; each stands where its first was. */
  private def joined(parts: Vector[ColumnCondition], join: (In, In) => In): Vector[ColumnCondition] = {
    val leaves =
      parts.collect { case l: In => l }.groupBy(_.path).map { case (path, same) => path -> same.reduce(join) }
    parts.foldLeft(Vector.empty[ColumnCondition]) {
      case (sofar, l: In) =>
        if (sofar.exists { case s: In => s.path == l.path; case _ => false }) sofar else sofar :+ leaves(l.path)
      case (sofar, other) => sofar :+ other
    }
  }

  private def both(a: In, b: In): In = leaf(a.path, a.nulls && b.nulls, a.noValue || b.noValue) { t =>
    (a.ofType(t), b.ofType(t)) match {
      case (Some(x), Some(y)) => Some(ValueSets.intersect(x, y))
      case (x, y)             => x.orElse(y)
    }
  }

  private def either(a: In, b: In): In = leaf(a.path, a.nulls || b.nulls, a.noValue && b.noValue) { t =>
    for (x <- a.ofType(t); y <- b.ofType(t)) yield ValueSets.union(x, y)
  }
}
