package hudiidx.store

import java.io.{IOException, OutputStream}

/** Carries a failure that is not the written file's past those that are. */
private[store] final class ContentFailure(val failure: IOException) extends RuntimeException(failure)

private[store] final class CountingOutput(out: OutputStream) extends OutputStream {
  var count = 0L

  /** The file itself refused bytes. */
  var failed = false

  override def write(b: Int): Unit = {
    passing(out.write(b))
    count += 1
  }
  override def write(b: Array[Byte], off: Int, len: Int): Unit = {
    passing(out.write(b, off, len))
    count += len
  }
  override def flush(): Unit = passing(out.flush())

  private def passing(call: => Unit): Unit =
    try call
    catch {
      case e: IOException =>
        failed = true
        throw e
    }
}
