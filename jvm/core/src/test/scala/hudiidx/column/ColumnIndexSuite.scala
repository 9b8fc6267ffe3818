package hudiidx.column

import hudiidx.DamagedIndex
import hudiidx.column.segment.{ColumnKind, SegmentMerge}
import hudiidx.hfile.BlockCache
import hudiidx.store.IndexStore
import java.nio.file.Files
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** What selections keep of segments of any columns and files, against a plain evaluation of the statistics. */
class ColumnIndexSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 60)

  private val columns = Vector(
    IndexedColumn("a", ColumnType.Int32, IndexKind.Range),
    IndexedColumn("a", ColumnType.Int64, IndexKind.Range),
    IndexedColumn("b.c", ColumnType.Text, IndexKind.Range),
    IndexedColumn("d", ColumnType.Float64, IndexKind.Range),
    IndexedColumn("e", ColumnType.Decimal(38, 4), IndexKind.Range)
  )

  private val file: Gen[ModelFile] = for {
    p <- Gen.oneOf("", "day=1", "day=2", "ü/x")
    n <- Gen.choose(0, 400)
    log <- Gen.prob(0.4)
    rows <- Gen.choose(-1L, 50L)
  } yield ModelFile(p, if (log) s".f$n.log.1_0-1-2" else s"f$n.parquet", n + 1L, rows)

  /** Files, of which no two have one name, and what is known of them under some of the columns. */
  private def segment(files: Vector[ModelFile]): Gen[ModelSegment] = for {
    some <- Gen.someOf(columns).map(_.toVector)
    stats <- Gen.sequence[Vector[Vector[ColumnStats]], Vector[ColumnStats]](
      files.map { f =>
        Gen.sequence[Vector[ColumnStats], ColumnStats](some.map(c => ColumnGen.stats(c.columnType, f.rows)))
      }
    )
  } yield ModelSegment(some, files.zip(stats).toMap)

  private val distinctFiles: Gen[Vector[ModelFile]] =
    Gen.listOf(file).map(_.groupBy(f => (f.partition, f.name)).values.map(_.head).toVector)

  private val table: Gen[(Vector[ModelFile], Vector[ModelSegment])] = for {
    files <- distinctFiles
    count <- Gen.choose(1, 4)
    covered <- Gen.listOfN(count, Gen.oneOf(Gen.const(files), Gen.someOf(files).map(_.toVector)))
    segments <- Gen.sequence[Vector[ModelSegment], ModelSegment](covered.map(segment))
  } yield (files, segments)

  private def slices(files: Vector[ModelFile]): Vector[Vector[ModelFile]] =
    files.groupBy(_.partition).values.toVector.flatMap { all =>
      val (bases, logs) = all.partition(!_.name.startsWith("."))
      val withLogs =
        bases.zipAll(logs.grouped(2).toVector, null, Vector.empty).map { case (b, l) => Option(b).toVector ++ l }
      withLogs.filter(_.nonEmpty) ++ all.map(Vector(_))
    }

  private def withModel[A](use: ColumnModel => A): A = {
    val model = new ColumnModel(ColumnModel.Tiny)
    try use(model)
    finally model.delete()
  }

  test("a selection keeps the slices that a plain evaluation of the statistics keeps, over any segments") {
    forAll(table, Gen.listOfN(4, ColumnGen.condition(columns))) { case ((files, segments), conditions) =>
      withModel { model =>
        model.opened(model.version(segments.map(model.write))) { index =>
          conditions.foreach { condition =>
            val selection = index.select(condition)
            slices(files).foreach { slice =>
              val expected = ColumnModel.mightMatch(condition, slice, segments)
              assert(selection.mightMatch(ColumnModel.slice(slice)) === expected, slice)
              if (expected && slice.forall(f => segments.exists(_.stats.contains(f))))
                assert(selection.mightMatch(slice.head.partition))
            }
            selection.report
          }
        }
      }
    }
  }

  test("every slice that a selection keeps has a file of the sizes that it wants, over any segments that cover all") {
    val covering = for {
      (files, more) <- table
      // Few sizes, so that files share them.
      sized = files.map(f => f.copy(sizeBytes = f.sizeBytes % 7))
      first <- segment(sized)
    } yield (
      sized,
      first +: more.map(s => s.copy(stats = s.stats.map { case (f, v) => f.copy(sizeBytes = f.sizeBytes % 7) -> v }))
    )
    forAll(covering, Gen.listOfN(4, ColumnGen.condition(columns))) { case ((files, segments), conditions) =>
      withModel { model =>
        model.opened(model.version(segments.map(model.write))) { index =>
          conditions.foreach { condition =>
            val selection = index.select(condition)
            val wanted = files.map(_.partition).distinct.map(p => p -> selection.wantedSizes(p)).toMap
            slices(files).filter(s => selection.mightMatch(ColumnModel.slice(s))).foreach { slice =>
              assert(
                wanted(slice.head.partition).forall(sizes => slice.exists(f => sizes.contains(f.sizeBytes))),
                slice
              )
            }
            val behind = index.select(condition, _ => true)
            assert(files.forall(f => behind.wantedSizes(f.partition).isEmpty))
          }
        }
        model.opened(model.version(segments.map(model.write), complete = false)) { index =>
          val selection = index.select(conditions.head)
          assert(files.forall(f => selection.wantedSizes(f.partition).isEmpty))
        }
      }
    }
  }

  test("a selective condition wants few sizes, the rarer part of an AND deciding, both parts of an OR") {
    withModel { model =>
      val files = Vector.tabulate(200)(i => ModelFile("p", s"f$i.parquet", 1000L + i, 10))
      def stats(i: Int): Vector[ColumnStats] = Vector(i.toLong, i.toLong / 10, 0L).map { v =>
        ColumnStats(10, 0, Bounds.LongRange(v, v, exact = true))
      }
      val known = Vector("a", "b", "c").map(IndexedColumn(_, ColumnType.Int64, IndexKind.Range))
      val segment = ModelSegment(known, files.indices.map(i => files(i) -> stats(i)).toMap)
      def in(column: String, value: Long): ColumnCondition =
        ColumnCondition.In(column, nulls = false, _ => Some(new ValueSet.Longs(Array(value), Array(value))))
      model.opened(model.version(Vector(model.write(segment)))) { index =>
        def wanted(condition: ColumnCondition): Option[Vector[Long]] =
          index.select(condition).wantedSizes("p").map(_.toVector)
        assert(wanted(in("a", 7)) === Some(Vector(1007L)))
        assert(wanted(in("b", 7)) === Some((1070L to 1079L).toVector))
        assert(wanted(ColumnCondition.And(Vector(in("b", 7), in("a", 75), in("c", 0)))) === Some(Vector(1075L)))
        assert(wanted(ColumnCondition.Or(Vector(in("a", 3), in("a", 75)))) === Some(Vector(1003L, 1075L)))
        assert(wanted(ColumnCondition.Or(Vector(in("a", 3), in("c", 0)))) === None)
        assert(wanted(in("none", 3)) === None)
      }
    }
  }

  test("a partition is ruled out exactly when no leaf's files can meet the condition, of one segment over all files") {
    forAll(distinctFiles.flatMap(f => Gen.zip(Gen.const(f), segment(f))), ColumnGen.condition(columns)) {
      case ((files, one), condition) =>
        withModel { model =>
          val written = Vector(model.write(one))
          def check(complete: Boolean, more: Boolean)(expected: Vector[ModelFile] => Boolean): Unit =
            model.opened(model.version(written, complete = complete)) { index =>
              val selection = index.select(condition, _ => more)
              files.groupBy(_.partition).foreach { case (path, all) =>
                assert(selection.mightMatch(path) === expected(all), path)
              }
            }
          val asked = ColumnModel.mightMatch(_: ColumnCondition, _: Seq[ModelFile], Seq(one))
          check(complete = true, more = false)(asked(condition, _))
          val always = isTrueOfAll(condition)
          check(complete = false, more = false)(_ => always)
          check(complete = true, more = true)(_ => always)
        }
    }
  }

  private def isTrueOfAll(condition: ColumnCondition): Boolean = condition match {
    case ColumnCondition.Nothing  => false
    case ColumnCondition.And(all) => all.forall(isTrueOfAll)
    case ColumnCondition.Or(any)  => any.exists(isTrueOfAll)
    case _                        => true
  }

  test("a column that was added in a segment of its own rules out partitions too") {
    forAll(distinctFiles.flatMap(f => Gen.zip(Gen.const(f), segment(f), segment(f)))) { case (files, first, second) =>
      withModel { model =>
        model.opened(model.version(Vector(first, second).map(model.write))) { index =>
          val in = ColumnCondition.In("d", nulls = false, _ => Some(new ValueSet.Longs(Array.empty, Array.empty)))
          files.groupBy(_.partition).foreach { case (path, all) =>
            val expected = Seq(first, second).forall(s => ColumnModel.mightMatch(in, all, Seq(s)))
            assert(index.select(in).mightMatch(path) === expected)
          }
        }
      }
    }
  }

  test("a file of another size, or of another name, is not the one that is covered") {
    withModel { model =>
      val known = ModelFile("p", "f1.parquet", 100, 10)
      val nothing = ColumnStats(10, 10, Bounds.NoValues)
      val segment = ModelSegment(columns.take(1), Map(known -> Vector(nothing)))
      model.opened(model.version(Vector(model.write(segment)))) { index =>
        val selection =
          index.select(ColumnCondition.In("a", nulls = false, _ => Some(new ValueSet.Longs(Array(0L), Array(9L)))))
        assert(!selection.mightMatch(ColumnModel.slice(Seq(known))))
        assert(selection.mightMatch(ColumnModel.slice(Seq(known.copy(sizeBytes = 101)))))
        assert(selection.mightMatch(ColumnModel.slice(Seq(known.copy(name = "f2.parquet")))))
        assert(selection.mightMatch(ColumnModel.slice(Seq(known.copy(partition = "q")))))
        assert(index.covers("p", "f1.parquet", 100) && !index.covers("p", "f1.parquet", 101))
        assert(index.stats("p", "f1.parquet", 100, "a") === Vector(columns.head -> nothing))
        assert(
          selection.report.map(r => (r.path, r.kinds, r.files, r.partitions)) === Vector(("a", Vector("range"), 1, 1))
        )
      }
      val dropped = model.version(Vector(model.write(segment)), Map(IndexKind.Range -> Vector("b.c")))
      model.opened(dropped) { index =>
        val selection =
          index.select(ColumnCondition.In("a", nulls = false, _ => Some(new ValueSet.Longs(Array(), Array()))))
        assert(selection.mightMatch(ColumnModel.slice(Seq(known))) && index.columns.isEmpty)
        assert(selection.report.map(_.why) === Vector(Some("column a has no index")))
      }
    }
  }

  test("merged segments are those that a rebuild of the files that are left would give, but for their order") {
    forAll(table, Gen.prob(0.7), Gen.someOf(columns)) { case ((files, segments), allLive, kept) =>
      withModel { model =>
        val live = if (allLive) files else files.filter(_.sizeBytes % 3 != 0)
        model.opened(model.version(segments.map(model.write))) { index =>
          val merge = new SegmentMerge(
            index.segments,
            p => live.iterator.filter(_.partition == p).map(f => (f.name, f.sizeBytes)),
            kept.contains
          )
          val merged =
            model.store.write(ColumnKind.fileName("2", IndexStore.newToken(), ColumnKind.Stats), ColumnKind.Stats)(
              merge.write(_, ColumnModel.Tiny)
            )
          model.opened(model.version(Vector(merged))) { after =>
            val there = segments.filter(_.files.exists(live.contains))
            assert(after.columns.flatten.toSet === segments.flatMap(_.columns).filter(kept.contains).toSet)
            files.foreach { f =>
              val covers = live.contains(f) && segments.exists(_.stats.contains(f))
              assert(after.covers(f.partition, f.name, f.sizeBytes) === covers)
              if (covers) columns.filter(kept.contains).foreach { c =>
                val known =
                  there.filter(_.columns.contains(c)).flatMap(s => s.stats.get(f).map(_(s.columns.indexOf(c))))
                val expected = known
                  .find(_.bounds != Bounds.Unknown)
                  .orElse(known.find(_.nulls >= 0))
                  .orElse(known.headOption)
                val found = after.stats(f.partition, f.name, f.sizeBytes, c.path).filter(_._1 == c).map(_._2)
                assert(found.map(_.bounds) === expected.map(_.bounds).filter(_ => found.nonEmpty).toVector)
                assert(found.map(_.nulls) === expected.map(_.nulls).filter(_ => found.nonEmpty).toVector)
                assert(found.nonEmpty || expected.forall(e => e.bounds == Bounds.Unknown && e.nulls < 0))
              }
            }
          }
        }
      }
    }
  }

  test("any flipped byte of a segment is noticed by name, and so is a file that is gone or cut") {
    withModel { model =>
      val files = Vector.tabulate(9)(i => ModelFile(s"p${i % 2}", s"f$i.parquet", 10L + i, i.toLong))
      val stats =
        files.map(f => f -> Vector(ColumnStats(f.rows, 0, Bounds.LongRange(f.rows, f.rows + 5, exact = true)))).toMap
      val written = model.write(ModelSegment(columns.take(1), stats))
      val path = model.dir.resolve(written.name)
      val whole = Files.readAllBytes(path)
      def readAll(): Unit = {
        val index = model.open(model.version(Vector(written)), new BlockCache(0))
        try {
          index.columns
          val set = new ValueSet.Longs(Array(0L), Array(100L))
          val selection = index.select(ColumnCondition.In("a", nulls = false, _ => Some(set)))
          files.foreach(f => selection.mightMatch(ColumnModel.slice(Seq(f))))
          files.foreach(f => index.stats(f.partition, f.name, f.sizeBytes, "a"))
        } finally index.close()
      }
      def refused(what: String): Unit = {
        val error = intercept[DamagedIndex](readAll())
        assert(error.getMessage.contains(written.name) && error.getMessage.contains("hudiidx create"), what)
      }
      readAll()
      // The trailer is 4,096 bytes, nearly all zero: a sample of it will do.
      whole.indices.filter(i => i < whole.length - 3800 || i % 295 == 0).foreach { i =>
        val broken = whole.clone()
        broken(i) = (broken(i) ^ (1 << (i % 8))).toByte
        Files.write(path, broken)
        refused(s"byte $i of ${whole.length}")
      }
      Seq(0, 1, whole.length / 2, whole.length - 1).foreach { n =>
        Files.write(path, whole.take(n))
        refused(s"cut to $n")
      }
      Files.delete(path)
      refused("gone")
    }
  }
}
