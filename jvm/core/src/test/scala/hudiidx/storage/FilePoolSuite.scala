package hudiidx.storage

import java.io.IOException
import java.nio.ByteBuffer
import java.nio.channels.ClosedChannelException
import java.nio.file.{Files, Path, StandardCopyOption}
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}
import java.util.concurrent.CountDownLatch

import hudiidx.Fixtures
import org.scalatest.funsuite.AnyFunSuite

final class FilePoolSuite extends AnyFunSuite {
  private final class Watched extends Storage {
    private val inner = LocalStorage
    val opened, closed = new AtomicInteger
    @volatile var beforeRead: () => Unit = () => ()
    def isOpen: Int = opened.get - closed.get

    override def open(path: String): RandomReader = {
      val reader = inner.open(path)
      opened.incrementAndGet()
      new RandomReader {
        def path: String = reader.path
        def sizeBytes: Long = reader.sizeBytes
        def stamp: FileStamp = reader.stamp
        def read(offset: Long, length: Int): ByteBuffer = {
          beforeRead()
          reader.read(offset, length)
        }
        def close(): Unit = {
          closed.incrementAndGet()
          reader.close()
        }
      }
    }
    def list(dir: String): Vector[FileInfo] = inner.list(dir)
    def status(path: String): Option[FileInfo] = inner.status(path)
    def readAll(path: String): Array[Byte] = inner.readAll(path)
    def write(path: String)(content: java.io.OutputStream => Unit): Unit = inner.write(path)(content)
    def publish(path: String, content: Array[Byte]): Boolean = inner.publish(path, content)
    def delete(path: String): Boolean = inner.delete(path)
  }

  private final class Pool(most: Int) {
    @volatile var now = 0L
    val storage = new Watched
    val pool = new FilePool(most, idleNanos = 60000000000L, () => now)
    private val folder: Path = Fixtures.newFolder("pool")
    def path(i: Int): Path = folder.resolve(s"f$i")
    def file(i: Int): RandomReader = {
      Files.write(path(i), Array.fill(4)(i.toByte))
      pool.open(storage, storage.status(path(i).toString).get)
    }
  }

  private def first(reader: RandomReader): Int = reader.read(0, 4).get(0).toInt

  test("a file that nobody reads for a while is closed, and its reader opens it again") {
    val p = new Pool(8)
    val kept = p.file(1)
    assert(first(kept) === 1)
    p.now = 59000000000L
    p.pool.sweep()
    assert(p.storage.isOpen === 1)
    p.now = 60000000000L
    p.pool.sweep()
    assert(p.storage.isOpen === 0 && p.pool.size === 0)
    assert(first(kept) === 1 && p.storage.isOpen === 1 && p.storage.opened.get === 2)
    kept.close()
    assert(p.storage.isOpen === 0 && p.pool.size === 0)
    intercept[IOException](first(kept))
    assert(p.storage.isOpen === 0)
  }

  test("of too many files the one that was read least recently is closed, and all can still be read") {
    val p = new Pool(3)
    val readers = (0 until 10).map(p.file)
    assert(p.storage.isOpen === 3)
    (9 to 0 by -1).foreach { i =>
      assert(first(readers(i)) === i)
      assert(p.storage.isOpen === 3)
    }
    assert(p.storage.opened.get === 17, "7, 8 and 9 were open still")
    readers.foreach(_.close())
    assert(p.storage.isOpen === 0)
  }

  test("a file stays open while it is read, however many there are") {
    val p = new Pool(1)
    val slow = p.file(1)
    val other = p.file(2)
    val isReading, goOn = new CountDownLatch(1)
    p.storage.beforeRead = () => {
      p.storage.beforeRead = () => ()
      isReading.countDown()
      goOn.await()
    }
    val found = new AtomicInteger
    val thread = new Thread(() => found.set(first(slow)))
    thread.start()
    isReading.await()
    assert(first(other) === 2)
    p.now = 120000000000L
    p.pool.sweep()
    assert(p.pool.size === 1, "the one that is read")
    goOn.countDown()
    thread.join()
    assert(found.get === 1)
    p.now = 180000000000L
    p.pool.sweep()
    assert(p.storage.isOpen === 0)
  }

  test("another file under the name of the one that was opened is refused") {
    val p = new Pool(8)
    val kept = p.file(1)
    p.now = 60000000000L
    p.pool.sweep()
    val other = Files.write(p.path(9), Array[Byte](9, 9, 9, 9))
    Files.move(other, p.path(1), StandardCopyOption.REPLACE_EXISTING)
    val e = intercept[IOException](first(kept))
    assert(e.getMessage.contains(p.path(1).toString) && e.getMessage.contains("another file"))
    assert(p.storage.isOpen === 0)
    Files.delete(p.path(1))
    intercept[java.nio.file.NoSuchFileException](first(kept))
  }

  test("a reader whose thread is interrupted closes the file for nobody else") {
    val p = new Pool(8)
    val kept = p.file(1)
    val said = new AtomicReference[Throwable]
    val thread = new Thread(() => {
      Thread.currentThread.interrupt()
      try first(kept): Unit
      catch { case e: Throwable => said.set(e) }
    })
    thread.start()
    thread.join()
    assert(said.get.isInstanceOf[ClosedChannelException])
    assert(first(kept) === 1)
  }

  test("many threads read many files right, of which few are open at a time") {
    val p = new Pool(4)
    val readers = (0 until 20).map(p.file)
    val wrong = new AtomicReference[Throwable]
    val threads = (0 until 8).map { t =>
      new Thread(() =>
        try {
          for (i <- 0 until 500) {
            val n = (i * 7 + t * 3) % 20
            assert(first(readers(n)) === n)
            if (i % 50 == 0) {
              p.now += 61000000000L
              p.pool.sweep()
            }
          }
        } catch { case e: Throwable => wrong.set(e) }
      )
    }
    threads.foreach(_.start())
    threads.foreach(_.join())
    assert(wrong.get === null)
    readers.foreach(_.close())
    assert(p.storage.isOpen === 0)
  }

  test("the thread that closes idle files ends with the last of them") {
    val storage = new Watched
    val pool = new FilePool(8, idleNanos = 20000000L, () => System.nanoTime())
    val path = Files.write(Fixtures.newFolder("pool").resolve("f"), Array[Byte](1, 1, 1, 1)).toString
    (1 to 2).foreach { _ =>
      val kept = pool.open(storage, storage.status(path).get)
      assert(first(kept) === 1)
      val until = System.nanoTime() + 20000000000L
      while (pool.isSweeping && System.nanoTime() < until) Thread.sleep(5)
      assert(storage.isOpen === 0 && !pool.isSweeping)
    }
  }
}
