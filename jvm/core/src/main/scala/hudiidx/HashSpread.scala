package hudiidx

/** Looks at names that others chose while they are read: maps and sets of Scala take the square of their number in time where all of them
  * have one hash code, which is easy to bring about.
  */
private[hudiidx] final class HashSpread {
  import HashSpread._

  private var count = 0
  // Java's map keeps numbers of one place in a tree.
  private lazy val ofHash = new java.util.HashMap[Integer, Integer]

  /** False from the name on that is one too many of its hash code. */
  def takes(name: String): Boolean = {
    count += 1
    count <= Uncounted || ofHash.merge(name.hashCode, 1, (a: Integer, b: Integer) => a + b) <= MostOfOne
  }
}

private[hudiidx] object HashSpread {

  /** So few cost nothing, whatever their hash codes are. */
  private val Uncounted = 1000

  /** Of names that nobody made for this, millions have a few of one hash code. */
  val MostOfOne = 100

  /** What an error says of them. */
  val Fault = s"more than $MostOfOne of its names have the same hash code"

  def isEven(names: Iterator[String]): Boolean = {
    val spread = new HashSpread
    names.forall(spread.takes)
  }
}
