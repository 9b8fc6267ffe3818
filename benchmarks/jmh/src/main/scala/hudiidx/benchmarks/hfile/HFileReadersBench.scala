package hudiidx.benchmarks.hfile

import java.nio.file.{Path, Paths}
import java.util.concurrent.TimeUnit
import org.openjdk.jmh.annotations._

/** One HFile, read by one reader: opened once, the file in the page cache, no block kept between calls. */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.MICROSECONDS)
class HFileReadersBench {
  @Param(Array("none")) var codec: String = _
  @Param(Array(ReaderUnderTest.Ours)) var reader: String = _
  @Param(Array("")) var dir: String = _
  @Param(Array("1000000")) var cells: String = _

  private var file: Path = _
  private var opened: ReaderUnderTest = _
  private var spread: Array[Array[Byte]] = _ // in no order
  private var batch1000, batch10000: Array[Array[Byte]] = _
  private var turn = 0

  @Setup def setup(): Unit = {
    file = BenchFiles.file(Paths.get(dir), codec)
    val keys = BenchFiles.keys(cells.toInt)
    def every(n: Int) = Array.tabulate(n)(i => keys((i.toLong * keys.length / n).toInt))
    batch1000 = every(1000)
    batch10000 = every(10000)
    val random = new java.util.Random(11)
    spread = Array.fill(10007)(keys(random.nextInt(keys.length)))
    opened = ReaderUnderTest.open(reader, file)
    check("scan", opened.scan(), keys.length)
    check("sorted gets", opened.getSorted(batch1000), 1000)
    check("get", spread.iterator.take(100).map(opened.get).sum, 100)
  }

  private def check(what: String, seen: Long, expected: Int): Unit =
    if (seen != expected) throw new IllegalStateException(s"$reader, $codec, $what: $seen cells, not $expected")

  @TearDown def tearDown(): Unit = opened.close()

  @Benchmark def open(): Any = {
    val another = ReaderUnderTest.open(reader, file)
    another.close()
    another
  }

  @Benchmark def scan(): Long = opened.scan()

  @Benchmark def get(): Long = {
    turn = (turn + 1) % spread.length
    opened.get(spread(turn))
  }

  @Benchmark def sorted1000(): Long = opened.getSorted(batch1000)

  @Benchmark def sorted10000(): Long = opened.getSorted(batch10000)
}
