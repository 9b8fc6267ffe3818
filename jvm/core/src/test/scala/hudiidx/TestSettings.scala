package hudiidx

/** How much the suites try, by variables of the environment. */
object TestSettings {

  /** All of what is a sample else: bytes, steps, faults, rounds. HUDIIDX_TEST_EVERY_BYTE, which `make test-all` sets. */
  val isLong: Boolean = sys.env.contains("HUDIIDX_TEST_EVERY_BYTE")

  /** Every fixture in suites that take long on each: HUDIIDX_TEST_ALL_FIXTURES, of `make test-all` and `make test-lines`. */
  val allFixtures: Boolean = sys.env.contains("HUDIIDX_TEST_ALL_FIXTURES")

  /** HUDIIDX_TEST_SEED, or another in each run; suites tell it. */
  val seed: Long = sys.env.get("HUDIIDX_TEST_SEED").fold(System.nanoTime())(_.toLong)
}
