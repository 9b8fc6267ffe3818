package hudiidx.hive

import java.io.{
  ByteArrayInputStream,
  ByteArrayOutputStream,
  DataInputStream,
  DataOutputStream,
  IOException,
  InvalidClassException,
  ObjectInputFilter,
  ObjectInputStream,
  ObjectOutputStream
}
import java.lang.management.ManagementFactory
import java.util.zip.{DeflaterOutputStream, InflaterInputStream}

import scala.util.control.NonFatal

import hudiidx.Fixtures
import hudiidx.engine.Tables
import hudiidx.hfile.BlockCache
import hudiidx.storage.LocalStorage
import hudiidx.sync.{IndexOptions, TableContext, TableSnapshot}
import hudiidx.table.LatestSchema
import org.scalatest.funsuite.AnyFunSuite

/** Bytes of a split that somebody else made give no object of a class that plans have not. */
class ReadPlanSuite extends AnyFunSuite {

  private def encoded(o: AnyRef): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(new DeflaterOutputStream(bytes))
    out.writeObject(o)
    out.close()
    bytes.toByteArray
  }

  test("an object of another class is refused before it is made") {
    ReadPlanSuite.made = 0
    val lambda: AnyRef = ((x: Int) => x + 1).asInstanceOf[AnyRef]
    val others = Seq[AnyRef](
      new Tripwire,
      Vector(new Tripwire),
      Map("a" -> new Tripwire),
      new java.io.File("/x"),
      new java.net.URI("http://x"),
      lambda,
      Stream.from(1).map(_ + 1).take(3).force
    )
    others.foreach(o => intercept[InvalidClassException](ReadPlan.decode(encoded(o))))
    assert(ReadPlanSuite.made === 0)
  }

  test("objects of a plan's classes that take long or much are refused before they are made") {
    def nested(levels: Int): java.util.HashSet[AnyRef] = (0 until levels).foldLeft(new java.util.HashSet[AnyRef]) {
      (in, n) =>
        val other = new java.util.HashSet[AnyRef](java.util.Collections.singleton[AnyRef](Int.box(n)))
        new java.util.HashSet[AnyRef](java.util.List.of(in, other))
    }
    intercept[ClassCastException](ReadPlan.decode(encoded(nested(8))))
    Seq[AnyRef](nested(25), new Array[Byte]((1 << 24) + 1)).foreach { o =>
      val cpu = System.nanoTime()
      intercept[InvalidClassException](ReadPlan.decode(encoded(o)))
      assert(System.nanoTime() - cpu < 60000000000L)
    }
  }

  test(
    "bytes of a split that are changed or cut give a piece or an I/O error, and take memory for what is there alone"
  ) {
    val piece = SlicePiece("p", Some(("/t/p/f", "1")), 0L, 9L, Vector("/t/p/l" -> 3L), 9L, Array.fill(100)(7.toByte))
    val written = new ByteArrayOutputStream
    piece.write(new DataOutputStream(written))
    val whole = written.toByteArray
    val before = allocated
    for (at <- whole.indices; value <- Seq(-1, 0, 1, 0x7f, -128, -124, -123); cut <- Seq(whole.length, at)) {
      val bytes = whole.clone()
      bytes(at) = value.toByte
      try SlicePiece.read(new DataInputStream(new ByteArrayInputStream(bytes, 0, cut))): Unit
      catch { case _: IOException => () }
    }
    assert(allocated - before < (256L << 20))
  }

  test("a plan whose bytes are changed gives a plan or an exception, never an error") {
    val context = TableContext.load(Tables.access(LocalStorage, new BlockCache(0)), Fixtures.table("v9-mor-part"))
    val plan = ReadPlan(context.config, None, Some("1"), ReadPlanSuite.NoColumns, false, false, Some(Set("a")), false)
    val plain = new InflaterInputStream(new ByteArrayInputStream(plan.encoded)).readAllBytes()
    val random = new scala.util.Random(7)
    (0 until 3000).foreach { _ =>
      val bytes = plain.clone()
      (0 to random.nextInt(3)).foreach(_ => bytes(random.nextInt(bytes.length)) = random.nextInt().toByte)
      val packed = new ByteArrayOutputStream
      val out = new DeflaterOutputStream(packed)
      out.write(bytes)
      out.close()
      try ReadPlan.decode(packed.toByteArray): Unit
      catch { case NonFatal(_) => () }
    }
  }

  private def allocated: Long = ManagementFactory.getThreadMXBean
    .asInstanceOf[com.sun.management.ThreadMXBean]
    .getThreadAllocatedBytes(Thread.currentThread.getId)

  test("a plan of a table with many instants, and of many keys, is far within the bounds") {
    val context = TableContext.load(Tables.access(LocalStorage, new BlockCache(0)), Fixtures.table("v9-mor-part"))
    val snapshot = TableSnapshot.of(context, IndexOptions(enabled = false))
    val timeline = snapshot.viewTimeline.withoutHistory
    val keys = (0 until 50000).map(n => s"key-$n").toSet
    val plan =
      ReadPlan(context.config, Some(timeline), Some("1"), ReadPlanSuite.NoColumns, false, false, Some(keys), false)
    val found = ReadPlan.decode(plan.encoded)
    assert(found.keys === plan.keys && found.config === plan.config)
    val deepest = ReadPlanSuite.deepest(plan.encoded)
    assert(deepest > 2 && deepest <= 12)
  }
}

object ReadPlanSuite {
  private val NoColumns = LatestSchema("{}", hasHistory = false, hasOperation = false, "f")

  @volatile var made = 0

  /** How many objects of a plan are in one another. */
  def deepest(plan: Array[Byte]): Long = {
    var most = 0L
    val in = new ObjectInputStream(new InflaterInputStream(new ByteArrayInputStream(plan)))
    in.setObjectInputFilter { i =>
      most = math.max(most, i.depth)
      ObjectInputFilter.Status.ALLOWED
    }
    in.readObject()
    most
  }
}

final class Tripwire extends Serializable {
  private def readObject(in: java.io.ObjectInputStream): Unit = {
    in.defaultReadObject()
    ReadPlanSuite.made += 1
  }
}
