package hudiidx.store

import java.io.{ByteArrayOutputStream, IOException, OutputStream}

/** Carries a failure that is not the written file's past those that are. */
private[store] final class ContentFailure(val failure: IOException) extends RuntimeException(failure)

/** @param mostHeld so many bytes are held beside, for who asks for the whole file next */
private[store] final class CountingOutput(out: OutputStream, mostHeld: Int) extends OutputStream {
  private val held = new ByteArrayOutputStream
  var count = 0L

  /** The whole content; None if it is more than is held. */
  def whole: Option[Array[Byte]] = if (held.size > 0 && held.size == count) Some(held.toByteArray) else None

  /** The file itself refused bytes. */
  var failed = false

  override def write(b: Int): Unit = {
    passing(out.write(b))
    count += 1
    if (count <= mostHeld) held.write(b)
  }
  override def write(b: Array[Byte], off: Int, len: Int): Unit = {
    passing(out.write(b, off, len))
    count += len
    if (count <= mostHeld) held.write(b, off, len)
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
