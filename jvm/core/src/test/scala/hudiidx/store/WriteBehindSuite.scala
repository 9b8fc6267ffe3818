package hudiidx.store

import hudiidx.{Fixtures, IndexNotWritable}
import hudiidx.storage.{FileInfo, ForwardingStorage, LocalStorage, Storage}
import java.io.{ByteArrayOutputStream, IOException, OutputStream}
import java.nio.charset.StandardCharsets.UTF_8
import org.scalatest.funsuite.AnyFunSuite

class WriteBehindSuite extends AnyFunSuite {

  /** A store whose files are made when somebody waits for them, unless they are those that it refuses. */
  private class Late(refused: String => Boolean = _ => false) extends ForwardingStorage(LocalStorage) {
    var ended = Vector.empty[String]

    override def isFar(path: String): Boolean = true

    override def writeBehind(path: String)(content: OutputStream => Unit): () => Unit = {
      val bytes = new ByteArrayOutputStream
      content(bytes)
      () => {
        if (refused(path)) throw new IOException("no room")
        // An end may be asked for often.
        if (LocalStorage.status(path).isEmpty) LocalStorage.write(path)(_.write(bytes.toByteArray))
        ended :+= path
      }
    }
  }

  private def inFolder(test: String => Unit): Unit = test(Fixtures.newFolder("behind").toString)

  private def text(bytes: Array[Byte]): String = new String(bytes, UTF_8)

  private val waiting: Vector[(String, (Storage, String) => Any)] = Vector(
    "a listing of its folder" -> ((s, p) => assert(s.list(parent(p)).map(_.name) === Vector("f"))),
    "its status" -> ((s, p) => assert(s.status(p).exists(_.sizeBytes == 1))),
    "the status of its folder" -> ((s, p) => assert(s.status(parent(p)).exists(_.isDirectory))),
    "opening it" -> ((s, p) => s.open(p).close()),
    "opening it by its size" -> ((s, p) => s.open(FileInfo(p, 1, 0, isDirectory = false)).close()),
    "reading it" -> ((s, p) => assert(text(s.readAll(p)) === "x")),
    "reading it by its size" -> ((s, p) => assert(text(s.readAll(FileInfo(p, 1, 0, isDirectory = false))) === "x")),
    "publishing" -> ((s, p) => assert(s.publish(parent(p) + "/version", Array[Byte](1)))),
    "removing it" -> ((s, p) => s.deleteFile(p)),
    "removing one" -> ((s, p) => assert(s.deleteOne(p))),
    "removing its folder" -> ((s, p) => assert(s.delete(parent(p)))),
    "the end" -> ((s, _) => s.asInstanceOf[WriteBehind].settle())
  )

  private def parent(path: String): String = path.substring(0, path.lastIndexOf('/'))

  for ((what, call) <- waiting)
    test(s"$what waits until the file is there") {
      inFolder { folder =>
        val late = new Late
        val behind = new WriteBehind(late)
        behind.writeOnce(s"$folder/d/f")(_.write('x'))
        assert(late.ended.isEmpty)
        call(behind, s"$folder/d/f")
        assert(late.ended === Vector(s"$folder/d/f"))
      }
    }

  test("what is asked of other files does not wait") {
    inFolder { folder =>
      val late = new Late
      val behind = new WriteBehind(late)
      behind.writeScratch(s"$folder/d/f")(_.write('x'))
      assert(behind.list(s"$folder/e").isEmpty)
      assert(behind.status(s"$folder/d/f2").isEmpty)
      behind.deleteFile(s"$folder/d/g")
      assert(late.ended.isEmpty)
      behind.settle()
      assert(late.ended.size === 1)
    }
  }

  test("nothing is published once a file could not be written, however often it is tried") {
    inFolder { folder =>
      val behind = new WriteBehind(new Late(_.endsWith("bad")))
      behind.writeOnce(s"$folder/good")(_.write('x'))
      behind.writeOnce(s"$folder/bad")(_.write('x'))
      for (_ <- 1 to 2) {
        val e = intercept[IndexNotWritable](behind.publish(s"$folder/version", Array[Byte](1)))
        assert(e.getMessage.startsWith(s"$folder/bad: cannot be written"))
        assert(e.getMessage.contains("no room"))
      }
      assert(LocalStorage.list(folder).map(_.name) === Vector("good"))
    }
  }

  test("a file that could not be written and is removed keeps nothing from being published") {
    inFolder { folder =>
      val behind = new WriteBehind(new Late(_.endsWith("bad")))
      behind.writeOnce(s"$folder/bad")(_.write('x'))
      behind.deleteFile(s"$folder/bad")
      assert(behind.publish(s"$folder/version", Array[Byte](1)))
    }
  }

  test("of a scratch file that could not be written it is told once: who made it may make another") {
    inFolder { folder =>
      val behind = new WriteBehind(new Late(_.endsWith("bad")))
      behind.writeScratch(s"$folder/bad")(_.write('x'))
      assertThrows[IndexNotWritable](behind.list(folder))
      assert(behind.list(folder).isEmpty)
      behind.writeScratch(s"$folder/again")(_.write('x'))
      assert(behind.publish(s"$folder/version", Array[Byte](1)))
    }
  }

  test("a file whose content fails was never begun") {
    inFolder { folder =>
      val late = new Late
      val behind = new WriteBehind(late)
      assertThrows[IllegalStateException](
        behind.writeOnce(s"$folder/f")(_ => throw new IllegalStateException("content"))
      )
      assert(behind.publish(s"$folder/version", Array[Byte](1)))
      assert(late.ended.isEmpty)
    }
  }

  test("a piece of work ends when its files are there, and fails where one could not be written") {
    inFolder { folder =>
      val late = new Late
      assert(WriteBehind.of(late) { s => s.writeOnce(s"$folder/f")(_.write('x')); 7 } === 7)
      assert(late.ended === Vector(s"$folder/f"))
      assertThrows[IndexNotWritable](WriteBehind.of(new Late(_ => true))(_.writeOnce(s"$folder/g")(_.write('x'))))
    }
  }

  test("a piece of work that fails raises its own error, with nothing on its way any more") {
    inFolder { folder =>
      val late = new Late(_.endsWith("bad"))
      val e = intercept[IllegalStateException](WriteBehind.of(late) { s =>
        s.writeOnce(s"$folder/bad")(_.write('x'))
        s.writeOnce(s"$folder/f")(_.write('x'))
        throw new IllegalStateException("its own")
      })
      assert(e.getMessage === "its own")
      assert(late.ended === Vector(s"$folder/f"))
    }
  }

  test("of many files few are on their way") {
    inFolder { folder =>
      val late = new Late
      val behind = new WriteBehind(late)
      (1 to 100).foreach(i => behind.writeOnce(s"$folder/$i")(_.write('x')))
      assert(late.ended === (1 to 36).map(i => s"$folder/$i"))
    }
  }

  test("on a store that is near files are written at once") {
    inFolder { folder =>
      val behind = new WriteBehind(LocalStorage)
      behind.writeOnce(s"$folder/f")(_.write('x'))
      assert(text(LocalStorage.readAll(s"$folder/f")) === "x")
    }
  }
}
