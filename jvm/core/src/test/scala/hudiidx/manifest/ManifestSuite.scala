package hudiidx.manifest

import hudiidx.DamagedIndex
import hudiidx.bytes.PackedOutput
import hudiidx.hfile.{BlockCache, Codec, HFileReader, HFileWriter}
import hudiidx.storage.BytesReader
import hudiidx.table.{FileEntry, FileKind, FileOrder}
import java.io.ByteArrayOutputStream
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Master, delta and overlay against a map of maps. */
class ManifestSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private type Model = Map[String, Map[String, FileEntry]]

  private sealed trait Step
  private case class Add(entry: FileEntry) extends Step
  private case class Remove(partition: String, pick: Int) extends Step
  private case class Replace(partition: String, pick: Int, instant: String) extends Step
  private case class Clear(partition: String) extends Step

  private val partition = Gen.oneOf("", "a", "a/b", "ü=1", "z", "\uD83D\uDE00", "\uFFFD")

  private val step: Gen[Step] = Gen.frequency(
    6 -> partition.flatMap(FileEntryGen.entry).map(e => Add(e.copy(completionTime = None, replacedAt = None))),
    3 -> Gen.zip(partition, Gen.choose(0, 50)).map { case (p, i) => Remove(p, i) },
    2 -> Gen.zip(partition, Gen.choose(0, 50), FileEntryGen.instant).map { case (p, i, t) => Replace(p, i, t) },
    1 -> partition.map(Clear)
  )

  test("files and partitions of master, delta and overlay are those of a plain map, through merges too") {
    forAll(Gen.listOf(step), Gen.listOf(Gen.listOf(step)), Gen.choose(1, 5), Gen.choose(0, 3), minSuccessful(60)) {
      (start, batches, pageEntries, overlaid) =>
        var model: Model = Map.empty
        start.foreach(s => model = applied(model, s, new ManifestChanges))
        var master = write(
          model.toVector.map { case (p, es) => EncodedPartition.of(p, es.values.toArray, pageEntries) },
          pageEntries
        )
        var delta: Option[DeltaManifest] = None
        var counts = DeltaCounts(0, 0, 0, 0, 1 + model.values.map(_.size).sum)
        val (indexed, rest) = batches.splitAt(batches.size - overlaid)
        indexed.zipWithIndex.foreach { case (batch, i) =>
          val changes = new ManifestChanges
          batch.foreach(s => model = applied(model, s, changes))
          val (next, nextCounts) = writeDelta(master, delta, changes, counts, pageEntries)
          delta = Some(next)
          counts = nextCounts
          check(model, new IndexFileSource(master, delta, new ManifestChanges))
          if (i % 3 == 2) {
            master = write(new MergedPartitions(master, next, pageEntries).toVector, pageEntries)
            delta = None
            counts = DeltaCounts(0, 0, 0, 0, 1 + model.values.map(_.size).sum)
            check(model, new IndexFileSource(master, None, new ManifestChanges))
          }
        }
        val overlay = new ManifestChanges
        rest.flatten.foreach(s => model = applied(model, s, overlay))
        check(model, new IndexFileSource(master, delta, overlay))
    }
  }

  test(
    "groups with a file of some sizes come whole, and those left out are counted: plain ones of one base file each"
  ) {
    val sizes =
      Gen.listOf(Gen.oneOf(Gen.choose(0, 12).map(_.toLong), Gen.const(1L << 45))).map(_.distinct.sorted.toArray)
    // Few sizes, and file groups of several files.
    def small(e: FileEntry): FileEntry =
      e.copy(sizeBytes = e.sizeBytes % 13, fileId = e.fileId.take(2) + e.fileId.takeRight(1))
    val few = step.map {
      case Add(e) if e.kind.isBase => Add(small(e).copy(kind = FileKind.Parquet))
      case Add(e)                  => Add(small(e))
      case other                   => other
    }
    forAll(Gen.listOfN(40, few), Gen.listOf(few), Gen.listOf(few), Gen.choose(1, 6), sizes) {
      (start, later, unseen, pageEntries, wanted) =>
        var model: Model = Map.empty
        start.foreach(s => model = applied(model, s, new ManifestChanges))
        val pages =
          model.toVector.map { case (p, es) => EncodedPartition.of(p, es.values.toArray, pageEntries) }
        val master = write(pages, pageEntries)
        checkSizes(model, new IndexFileSource(master, None, new ManifestChanges), wanted)
        val changes = new ManifestChanges
        later.foreach(s => model = applied(model, s, changes))
        val counts = DeltaCounts(0, 0, 0, 0, 1 + start.size)
        val delta = Some(writeDelta(master, None, changes, counts, pageEntries)._1)
        checkSizes(model, new IndexFileSource(master, delta, new ManifestChanges), wanted)
        val overlay = new ManifestChanges
        unseen.foreach(s => model = applied(model, s, overlay))
        checkSizes(model, new IndexFileSource(master, delta, overlay), wanted)
    }
  }

  private def checkSizes(model: Model, source: IndexFileSource, sizes: Array[Long]): Unit =
    (model.keySet + "absent").foreach { p =>
      val found = source.filesOfSizes(p, sizes)
      val groups = source.files(p).toVector.groupBy(_.fileId)
      val byId = found.files.toVector.groupBy(_.fileId)
      byId.foreach { case (id, files) => assert(files === groups(id)) }
      val left = (groups -- byId.keySet).values
      assert(found.passedOver === left.size)
      left.foreach { files =>
        assert(files.forall(f => f.isBase && f.replacedAt.isEmpty && !sizes.contains(f.sizeBytes)))
      }
    }

  test("a master of plain groups gives few more than those asked for") {
    val e = FileEntryGen
      .entry("p")
      .sample
      .get
      .copy(kind = FileKind.Parquet, logVersion = 0, replacedAt = None, completionTime = None)
    val entries = Array.tabulate(1000)(i => e.copy(fileId = f"f$i%04d", sizeBytes = 5000L + i))
    val source =
      new IndexFileSource(write(Vector(EncodedPartition.of("p", entries, 100)), 100), None, new ManifestChanges)
    val found = source.filesOfSizes("p", Array(1L, 5007L, 5555L, 5999L, 9000L))
    assert(Seq(7, 555, 999).forall(i => found.files.contains(entries(i))))
    // The first and the last of each page come along.
    assert(found.files.length <= 3 + 2 * 10 && found.passedOver === 1000 - found.files.length)
  }

  test("partitions that leave the table are damage of the index, in master and delta") {
    for (bad <- Seq("..", "a/../../b", "/x", "s3a://x", "file:/x")) {
      val e = FileEntryGen.entry(bad).sample.get.copy(completionTime = None, replacedAt = None)
      val hostile = write(Vector(EncodedPartition.of(bad, Array(e), 4)), 4)
      assert(intercept[DamagedIndex](hostile.partitions.toVector).getMessage.contains(s"'$bad' leaves the table"))
      intercept[DamagedIndex](hostile.runs.toVector)
      val changes = new ManifestChanges
      changes.of(bad).add(e)
      val (delta, _) = writeDelta(write(Vector.empty, 4), None, changes, DeltaCounts(0, 0, 0, 0, 1), 4)
      assert(intercept[DamagedIndex](delta.partitionChanges).getMessage.contains(s"'$bad' leaves the table"))
    }
  }

  test(
    "what a replacement marked counts no more once that was taken back, unless another one did too: in the overlay, the delta, the next master"
  ) {
    val e = FileEntryGen.entry("p").sample.get.copy(completionTime = None, replacedAt = None)
    val (gone, kept) = ("20260101000000000", "20260101000001000")
    def entries(p: String) =
      Array.tabulate(10)(i =>
        e.copy(partitionPath = p, fileId = s"f$i", replacedAt = Vector(None, Some(gone), Some(kept))(i % 3))
      )
    val master = write(Vector("p", "q").map(p => EncodedPartition.of(p, entries(p), 4)), 4)
    val marking = new ManifestChanges
    marking.of("q").replace("f0", gone)
    val (marked, counts) = writeDelta(master, None, marking, DeltaCounts(0, 0, 0, 0, 21), 4)
    val taken = new ManifestChanges
    taken.unmark(Set(gone), (p, f) => if (p == "q" && Set("f0", "f1")(f)) Some(kept) else None)
    val expected = entries("p").map(f => f.copy(replacedAt = f.replacedAt.filter(_ == kept))).toSeq
    def holds(source: IndexFileSource): Unit = {
      assert(source.partitions === Vector("p", "q"))
      for (p <- source.partitions) {
        val again = if (p == "q") Set("f0", "f1") else Set.empty[String]
        val of =
          expected.map(f => f.copy(partitionPath = p, replacedAt = if (again(f.fileId)) Some(kept) else f.replacedAt))
        assert(source.files(p).toSeq === of)
        val sizes = Array(e.sizeBytes)
        assert(
          source.filesOfSizes(p, sizes).files.toSeq.filter(_.replacedAt.isEmpty) === of.filter(_.replacedAt.isEmpty)
        )
      }
    }
    holds(new IndexFileSource(master, Some(marked), taken))
    val (delta, _) = writeDelta(master, Some(marked), taken, counts, 4)
    holds(new IndexFileSource(master, Some(delta), new ManifestChanges))
    holds(new IndexFileSource(write(new MergedPartitions(master, delta, 4).toVector, 4), None, new ManifestChanges))
  }

  test("the counts of a delta follow from its cells") {
    forAll(Gen.listOf(step), Gen.listOf(Gen.listOf(step))) { (start, batches) =>
      var model: Model = Map.empty
      start.foreach(s => model = applied(model, s, new ManifestChanges))
      val first = model.values.map(_.size).sum
      val master = write(model.toVector.map { case (p, es) => EncodedPartition.of(p, es.values.toArray, 4) }, 4)
      var state: (Option[DeltaManifest], DeltaCounts) = (None, DeltaCounts(0, 0, 0, 0, 1 + first))
      batches.foreach { batch =>
        val changes = new ManifestChanges
        batch.foreach(s => model = applied(model, s, changes))
        val (d, c) = writeDelta(master, state._1, changes, state._2, 4)
        state = (Some(d), c)
        val partitions = master.partitions.size + c.addedPartitions - c.removedPartitions
        assert(partitions === model.size.toLong)
        // An entry given anew under its old name stands in master and delta; it is counted in both.
        assert(first + c.added - c.removed >= model.values.map(_.size).sum)
      }
    }
  }

  test("a run that does not stand on whole pages is damage, named with its numbers") {
    val e = FileEntryGen.entry("p").sample.get
    val entries = Array.tabulate(10)(i => e.copy(fileId = s"f$i"))
    val master = write(Vector(EncodedPartition.of("p", entries, 4)), 4)
    val run = master.run("p").get
    assert(master.entries("p", run).length === 10)
    Seq(
      PartitionRun(run.firstNumber, 9),
      PartitionRun(run.firstNumber + 1, 2),
      PartitionRun(run.firstNumber, 11),
      PartitionRun(500, 1)
    ).foreach { bad =>
      val error = intercept[DamagedIndex](master.entries("p", bad))
      assert(error.getMessage.contains(s"files ${bad.firstNumber} to"))
    }
  }

  /** Groups that changes replaced, by partition and file id: what they add to them later is replaced too. */
  private val replaced = new java.util.IdentityHashMap[ManifestChanges, Map[(String, String), String]]

  private def replacedBy(changes: ManifestChanges): Map[(String, String), String] =
    replaced.getOrDefault(changes, Map.empty)

  test("a partition index whose runs are longer than their pages, or share pages, is damage, and asks for no memory") {
    val e = FileEntryGen.entry("p").sample.get.copy(completionTime = None, replacedAt = None)
    val entries = Array.tabulate(8)(i => e.copy(fileId = s"f$i"))
    def forged(runs: (String, Long, Long)*): MasterManifest = {
      val (m, i) = (new ByteArrayOutputStream, new ByteArrayOutputStream)
      val writer = new MasterWriter(m, new ByteArrayOutputStream, ManifestShape(4, 256, Codec.None))
      writer.append(EncodedPartition.of("p", entries, 4))
      writer.close()
      val index = new HFileWriter(i, ManifestShape(4, 256, Codec.None).hfile)
      runs.foreach { case (path, first, count) =>
        val run = new PackedOutput(16)
        run.varint(first)
        run.varint(count)
        index.append(PartitionKey.encode(path), run.toBytes)
      }
      index.close()
      new MasterManifest(open(m), open(i), "test")
    }
    for (count <- Seq(9L, 100000000L, Int.MaxValue - 1L)) {
      val source = new IndexFileSource(forged(("p", 1L, count)), None, new ManifestChanges)
      assert(intercept[DamagedIndex](source.files("p")).getMessage.contains("do not stand on whole pages"))
    }
    for (other <- Seq(("q", 1L, 8L), ("q", 5L, 4L), ("q", 10L, 4L))) {
      val shared = forged(("p", 1L, 8L), other)
      intercept[DamagedIndex](shared.partitions.toVector)
      intercept[DamagedIndex](new IndexFileSource(shared, None, new ManifestChanges).partitions)
    }
    assert(forged(("p", 1L, 8L)).partitions.toVector === Vector("p"))
  }

  private def applied(model: Model, step: Step, changes: ManifestChanges): Model = step match {
    case Add(e) =>
      changes.of(e.partitionPath).add(e)
      val marked = e.copy(replacedAt = replacedBy(changes).get(e.partitionPath -> e.fileId))
      model.updated(e.partitionPath, model.getOrElse(e.partitionPath, Map.empty).updated(e.fileName, marked))
    case Remove(p, pick) =>
      picked(model, p, pick).fold(model) { e =>
        changes.of(p).remove(e.fileName)
        model.updated(p, model(p) - e.fileName)
      }
    case Replace(p, pick, instant) =>
      picked(model, p, pick).fold(model) { e =>
        changes.of(p).replace(e.fileId, instant)
        val before = replacedBy(changes)
        if (before.get(p -> e.fileId).forall(_ > instant)) replaced.put(changes, before + (p -> e.fileId -> instant))
        model.updated(
          p,
          model(p).map { case (n, f) =>
            n -> (if (f.fileId == e.fileId && f.replacedAt.forall(_ > instant)) f.copy(replacedAt = Some(instant))
                  else f)
          }
        )
      }
    case Clear(p) =>
      if (model.contains(p)) changes.of(p).clear()
      model - p
  }

  private def picked(model: Model, p: String, pick: Int): Option[FileEntry] =
    model.get(p).filter(_.nonEmpty).map(es => es.values.toVector.sortBy(_.fileName).apply(pick % es.size))

  private def check(model: Model, source: IndexFileSource): Unit = {
    assert(source.partitions === model.keys.toVector.sorted)
    (model.keys.toSeq :+ "absent").foreach { p =>
      val expected = FileOrder.sorted(model.getOrElse(p, Map.empty[String, FileEntry]).values.toArray)
      assert(source.files(p).toSeq === expected.toSeq)
    }
  }

  private def write(partitions: Vector[EncodedPartition], pageEntries: Int): MasterManifest = {
    val (m, i) = (new ByteArrayOutputStream, new ByteArrayOutputStream)
    val writer = new MasterWriter(m, i, ManifestShape(pageEntries, 256, Codec.None))
    val byPath = partitions.map(p => p.partitionPath -> p).toMap
    PartitionKey.sorted(byPath.keys).foreach(p => writer.append(byPath(p)))
    writer.close()
    new MasterManifest(open(m), open(i), "test")
  }

  private def writeDelta(
      master: MasterManifest,
      old: Option[DeltaManifest],
      changes: ManifestChanges,
      counts: DeltaCounts,
      pageEntries: Int
  ): (DeltaManifest, DeltaCounts) = {
    val out = new ByteArrayOutputStream
    val file = new HFileWriter(out, ManifestShape.delta)
    val next = new DeltaBuilder(master, old, pageEntries).write(file, changes, counts)
    file.close()
    (new DeltaManifest(open(out), "test"), next)
  }

  private def open(bytes: ByteArrayOutputStream): HFileReader =
    HFileReader.open(new BytesReader("memory", bytes.toByteArray), new BlockCache(0))
}
