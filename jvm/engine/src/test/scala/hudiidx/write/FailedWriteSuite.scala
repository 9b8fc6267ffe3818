package hudiidx.write

import hudiidx.{DamagedTable, WriteFailed}
import java.io.{IOException, InterruptedIOException, UncheckedIOException}
import java.net.SocketTimeoutException
import java.nio.channels.ClosedByInterruptException
import java.nio.file.AccessDeniedException
import org.scalatest.funsuite.AnyFunSuite

/** What becomes of an error that ends a write. */
class FailedWriteSuite extends AnyFunSuite {
  private def typed(e: Throwable): Throwable = FailedWrite.of(e, "/t", "the write 1", FailedWrite.NothingCounts)

  test("an I/O error, however wrapped, is told with table, reason, what became of the write, and what to do") {
    val full = new IOException("/t/p/f: No space left on device")
    val wrapped = Seq(full, new RuntimeException("Job aborted", full), new UncheckedIOException(full))
    wrapped.foreach { e =>
      val said = typed(e)
      assert(
        said.isInstanceOf[WriteFailed] && said.getCause == e && said.getMessage ==
          "/t: the write 1 failed (java.io.IOException: /t/p/f: No space left on device); nothing of it counts, and the next " +
          "write removes what is left of it; make room there, then try again"
      )
    }
    val quotas =
      Seq("The DiskSpace quota of /t is exceeded: quota exceeded", "Disk quota exceeded", "There is not enough space")
    quotas.foreach(q => assert(typed(new IOException(q)).getMessage.contains("make room there"), q))
    val deeper = typed(new IOException("the stream is broken", new IllegalStateException("because of this")))
    assert(deeper.getMessage.contains("the stream is broken: because of this"))
    val denied = typed(new AccessDeniedException("/t/p")).getMessage
    assert(denied.contains("AccessDeniedException: /t/p") && denied.contains("fix that, then try again"))
    assert(typed(new SocketTimeoutException("no answer")).isInstanceOf[WriteFailed])
  }

  test("a message that is a document, as of a footer with values of rows in it, is left out: its cause says enough") {
    val footer = new IOException(
      "can not write FileMetaData(" + "min_value:53 45 43 52 45 54, " * 100,
      new IOException("/t/p/f: No space left on device")
    )
    val said = typed(new RuntimeException("Job aborted", footer)).getMessage
    assert(said.length < 400 && !said.contains("53 45 43") && said.contains("/t/p/f: No space left on device"))
    assert(said.contains("make room there"))
  }

  test("errors of ours, interruptions and what is no I/O error stay as they are") {
    Seq(
      new DamagedTable("/t/f: cut"),
      new RuntimeException("Job aborted", new DamagedTable("/t/f: cut", new IOException("no answer"))),
      new InterruptedException,
      new RuntimeException(new ClosedByInterruptException),
      new IOException("it is stopped", new InterruptedIOException),
      new IllegalArgumentException("of the rows"),
      new OutOfMemoryError
    ).foreach(e => assert(typed(e) eq e))
  }
}
