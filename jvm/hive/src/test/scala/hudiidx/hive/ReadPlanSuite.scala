package hudiidx.hive

import java.io.{ByteArrayOutputStream, InvalidClassException, ObjectOutputStream}
import java.util.zip.DeflaterOutputStream

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
}

object ReadPlanSuite {
  @volatile var made = 0
}

final class Tripwire extends Serializable {
  private def readObject(in: java.io.ObjectInputStream): Unit = {
    in.defaultReadObject()
    ReadPlanSuite.made += 1
  }
}
