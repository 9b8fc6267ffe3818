package hudiidx.storage

/** An iterator that holds files open. Close it when done, also before its end; closing again does nothing. */
trait CloseableIterator[A] extends Iterator[A] with AutoCloseable {
  override def close(): Unit
}
