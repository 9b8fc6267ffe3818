package hudiidx.spark.stream

import scala.collection.mutable

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class ChangeTextSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  /** One by one. */
  private def without(images: Vector[String], others: Vector[String], sameness: String => String): Vector[String] = {
    val left = mutable.ArrayBuffer(others.map(sameness): _*)
    images.filter { image =>
      val at = left.indexOf(sameness(image))
      if (at >= 0) left.remove(at): Unit
      at < 0
    }
  }

  test("images of one key are matched by what they say, however many there are") {
    val images = Gen.listOf(Gen.oneOf("a1", "a2", "b1", "c1", "c2")).map(_.toVector)
    forAll(images, images, Gen.oneOf[String => String]((t: String) => t, (t: String) => t.take(1))) {
      (some, others, sameness) =>
        assert(ChangeText.without(some, others, sameness) === without(some, others, sameness))
    }
    val many = Vector.tabulate(500000)(_.toString)
    assert(ChangeText.without(many, many.reverse.drop(1), identity) === many.takeRight(1))
  }
}
