package hudiidx.column

import org.scalatest.funsuite.AnyFunSuite

/** A column that files of one segment have in two types: statistics of each type say nothing of the others' files. */
class ChangedTypeSuite extends AnyFunSuite {
  private val columns = Vector(ColumnType.Int32, ColumnType.Float64).map(IndexedColumn("a", _, IndexKind.Range))
  private val ints = ModelFile("ints", "f1.parquet", 1, 10)
  private val doubles = ModelFile("doubles", "f2.parquet", 2, 10)
  private val both = Vector("f3.parquet", ".f3.log.1_0-1-2").zipWithIndex.map { case (n, i) =>
    ModelFile("both", n, 3L + i, 10)
  }

  private def range(min: Long, max: Long): ColumnStats =
    ColumnStats(10, 0, Bounds.LongRange(min, max, exact = true))
  private def ofInts: Vector[ColumnStats] = Vector(range(0, 9), ColumnStats.Unknown)
  private def ofDoubles: Vector[ColumnStats] =
    Vector(ColumnStats.Unknown, range(ColumnType.ofDouble(0.5), ColumnType.ofDouble(9.5)))

  private def is(value: Double): ColumnCondition = ColumnCondition.In(
    "a",
    nulls = false,
    t => {
      val known = if (t == ColumnType.Float64) Array(ColumnType.ofDouble(value)) else Array.emptyLongArray
      Some(new ValueSet.Longs(known, known))
    }
  )

  test("values that the one type alone can hold leave out the other's files, and none of its own") {
    val model = new ColumnModel(ColumnModel.Tiny)
    val stats = Map(ints -> ofInts, doubles -> ofDoubles, both(0) -> ofInts, both(1) -> ofDoubles)
    try
      model.opened(model.version(Vector(model.write(ModelSegment(columns, stats))))) { index =>
        def kept(value: Double): Vector[String] = {
          val selection = index.select(is(value))
          val slices =
            Vector(Vector(ints), Vector(doubles), both).filter(s => selection.mightMatch(ColumnModel.slice(s)))
          val partitions = stats.keys.map(_.partition).toVector.distinct.filter(selection.mightMatch(_: String))
          assert(slices.map(_.head.partition).toSet === partitions.toSet)
          partitions.sorted
        }
        assert(kept(2.5) === Vector("both", "doubles"))
        assert(kept(20.5) === Vector.empty)
      }
    finally model.delete()
  }

  test("rows without a value leave out files that are known to have none, also where their bounds are not known") {
    val model = new ColumnModel(ColumnModel.Tiny)
    val withoutBounds = Vector(ColumnStats(10, 0, Bounds.Unknown), ColumnStats.Unknown)
    val withNulls = Vector(ColumnStats(10, 3, Bounds.Unknown), ColumnStats.Unknown)
    val unknown = Vector(ColumnStats.Unknown, ColumnStats.Unknown)
    val stats = Map(ints -> withoutBounds, doubles -> withNulls, both(0) -> withoutBounds, both(1) -> unknown)
    try
      model.opened(model.version(Vector(model.write(ModelSegment(columns, stats))))) { index =>
        def kept(condition: ColumnCondition): Vector[String] = {
          val selection = index.select(condition)
          Vector(Vector(ints), Vector(doubles), both)
            .filter(s => selection.mightMatch(ColumnModel.slice(s)))
            .map(_.head.partition)
        }
        val none = (t: ColumnType) => Some(ValueSets.none(t.order))
        val isNull = Conditions.leaf("a", nulls = true, noValue = true)(none)
        val isOther = Conditions.leaf("a", nulls = false)(none)
        assert(kept(isNull) === Vector("doubles", "both"))
        assert(kept(isOther) === Vector("ints", "doubles", "both"))
        assert(kept(Conditions.or(Seq(isNull, isOther))) === Vector("ints", "doubles", "both"))
        assert(
          kept(Conditions.and(Seq(isNull, Conditions.leaf("a", nulls = true)(none)))) === Vector("doubles", "both")
        )
      }
    finally model.delete()
  }
}
