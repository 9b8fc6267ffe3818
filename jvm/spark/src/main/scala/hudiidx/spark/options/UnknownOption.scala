package hudiidx.spark.options

import hudiidx.InvalidOption
import org.apache.spark.unsafe.types.UTF8String

/** An option by Hudi's name that no release of stock Hudi has: it is misspelt, or of a release that is not known here. */
object UnknownOption {

  /** @param known names that it may stand for */
  def refused(name: String, known: Iterable[String]): InvalidOption = new InvalidOption(
    s"$name: stock Hudi 0.15.0 to 1.2.0 has no such option, and by its name rows, keys or files depend on it; " +
      meant(name, known).fold("leave it out")(like => s"is $like meant? Else leave it out")
  )

  /** The name that is most like it; None if none is. */
  private def meant(name: String, known: Iterable[String]): Option[String] = {
    val given = UTF8String.fromString(name)
    val near =
      known.map(like => given.levenshteinDistance(UTF8String.fromString(like)) -> like).filter(_._1 <= MostTypos)
    near.toVector.sorted.headOption.map(_._2)
  }

  private val MostTypos = 3
}
