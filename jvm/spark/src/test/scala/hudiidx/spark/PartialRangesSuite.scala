package hudiidx.spark

import hudiidx.Fixtures
import hudiidx.timeline.Instant
import org.apache.spark.sql.Row
import org.apache.spark.sql.functions.col

/** Ranges whose log blocks hold the changed columns alone. Stock Hudi has no answers to them: 1.1.1 and 1.2.0 fail
  * (`ClassCastException`), 1.0.2 runs out of memory. What is right is its snapshot as of the range's end.
  */
final class PartialRangesSuite extends TableStreams {

  /** Rows as of the last of some commits that these wrote. */
  private def inSnapshot(path: String, wanted: Vector[Instant]): Vector[String] = {
    val snapshot = read(path, "as.of.instant" -> wanted.last.requestedTime)
    rows(
      snapshot.where(col("_hoodie_commit_time").isin(wanted.map(_.requestedTime): _*)).collect().toSeq,
      snapshot.columns
    )
  }

  /** In the order of the names of columns. */
  private def rows(found: Seq[Row], columns: Array[String]): Vector[String] =
    texts(found.map(r => Row(columns.sorted.map(c => r.get(columns.indexOf(c))).toSeq: _*)))

  Vector("v8-partial-updates", "v9-partial-updates").foreach { name =>
    test(s"$name: rows of every range have all their columns, as the snapshot at its end") {
      val path = Fixtures.table(name)
      val all = inOrder(path)
      for (from <- all.indices; to <- from until all.size) withClue(s"commits $from to $to: ") {
        val frame = read(path, range(path, all.lift(from - 1), all(to)): _*)
        assert(rows(frame.collect().toSeq, frame.columns) === inSnapshot(path, all.slice(from, to + 1)))
        val some = frame.where("qty > 20 and rider is not null").select("id", "qty")
        assert(texts(some.collect().toSeq) === texts(frame.collect().toSeq.collect {
          case r if r.getAs[Any]("rider") != null && r.getAs[Int]("qty") > 20 =>
            Row(r.getAs[Any]("id"), r.getAs[Any]("qty"))
        }))
      }
    }

    test(s"$name: batches of a stream have all columns too, with an index and without") {
      val path = Fixtures.copy(name)
      val all = inOrder(path)
      Seq(false, true).foreach { indexed =>
        if (indexed) new api.HudiIdxApi(spark, path, java.util.Map.of()).create()
        val stream = new Reader(path, incremental, limit -> "1")
        val batches = stream.next()
        assert(batches.size === all.size)
        batches.zip(all).foreach { case (batch, commit) =>
          assert(rows(batch, stream.columns.fieldNames) === inSnapshot(path, Vector(commit)))
        }
      }
    }
  }

  private def range(path: String, from: Option[Instant], to: Instant): Seq[(String, String)] = {
    // Hudi 1.0, and so a query of version 8, counts the begin too.
    def behind(i: Instant) =
      if (context(path).config.version == 8) f"${i.completionTime.get.toLong + 1}%017d" else i.completionTime.get
    Seq(incremental, begin -> from.fold("000")(behind), end -> to.completionTime.get)
  }
}
