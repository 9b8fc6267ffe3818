package hudiidx

/** How much the suites try, by variables of the environment. */
object TestSettings {

  /** All of what is a sample else: bytes, steps, faults, rounds. HUDIIDX_TEST_EVERY_BYTE, which `make test-all` sets. */
  val isLong: Boolean = sys.env.contains("HUDIIDX_TEST_EVERY_BYTE")

  /** Every fixture in suites that take long on each: HUDIIDX_TEST_ALL_FIXTURES, of `make test-all` and `make test-lines`. */
  val allFixtures: Boolean = sys.env.contains("HUDIIDX_TEST_ALL_FIXTURES")

  /** Table versions of tests that take long on each: in short form one, and another test has the other. */
  def versions(short: Int): Seq[Int] = if (isLong) Seq(6, 9) else Seq(short)

  /** How much is drawn or repeated: in short form a part of it. */
  def upTo(long: Int, short: Int): Int = if (isLong) long else short

  /** In short form every `n`th of cases that differ little. */
  def some[A](n: Int)(cases: Seq[A]): Seq[A] =
    if (isLong) cases else cases.zipWithIndex.collect { case (c, i) if i % n == 0 => c }

  /** HUDIIDX_TEST_SEED, or another in each run; suites tell it. */
  val seed: Long = sys.env.get("HUDIIDX_TEST_SEED").fold(System.nanoTime())(_.toLong)
}
