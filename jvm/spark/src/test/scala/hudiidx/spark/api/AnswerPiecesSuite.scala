package hudiidx.spark.api

import java.nio.charset.StandardCharsets.UTF_8

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

final class AnswerPiecesSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val lengths = Gen.oneOf(Gen.choose(0, 20000), Gen.oneOf(7999, 8000, 8001, 399999, 400000, 400001))

  test("pieces behind one another are the text, each less than a block of what py4j writes") {
    forAll(lengths, Gen.oneOf("a", "é", "日", "\uD83D\uDE00")) { (length: Int, letter: String) =>
      val text = letter * (length / letter.length)
      AnswerPieces.of(text) match {
        case whole: String =>
          val size = text.getBytes(UTF_8).length
          assert(whole === text)
          assert(size <= AnswerPieces.PieceLetters || size > AnswerPieces.MostTextBytes)
        case pieces: AnswerPieces =>
          val all = (0 until pieces.count).map(pieces.piece(_) match {
            case letters: String =>
              assert(letters.getBytes(UTF_8).length <= AnswerPieces.PieceLetters)
              letters.getBytes(UTF_8)
            case bytes: Array[Byte] =>
              assert(bytes.length <= AnswerPieces.PieceBytes)
              bytes
            case other => fail(s"$other")
          })
          assert(new String(all.toArray.flatten, UTF_8) === text)
          assert(pieces.toString === text)
        case other => fail(s"$other")
      }
    }
  }
}
