package hudiidx.engine.s3

import java.io.{PrintWriter, StringWriter}
import java.net.{InetAddress, InetSocketAddress}

import com.sun.net.httpserver.HttpServer
import hudiidx.engine.Tables
import hudiidx.sync.IndexOptions
import hudiidx.sync.build.Indexer
import hudiidx.table.TableConfig
import hudiidx.{HudiIdxException, InvalidOption}
import org.apache.hadoop.conf.Configuration
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

/** A store that takes nobody's credentials: what is said of it says nothing of them. */
class S3RefusalSuite extends AnyFunSuite with BeforeAndAfterAll {
  private val secret = "QmVuZXZlbnRl-not-to-be-seen"
  private val door = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress, 0), 0)
  door.createContext(
    "/",
    exchange => {
      exchange.getRequestBody.readAllBytes()
      exchange.sendResponseHeaders(403, -1)
      exchange.close()
    }
  )
  door.start()

  override def afterAll(): Unit = door.stop(0)

  private def conf: Configuration = {
    val conf = new Configuration
    conf.set("fs.s3a.endpoint", s"http://127.0.0.1:${door.getAddress.getPort}")
    conf.set("fs.s3a.path.style.access", "true")
    conf.set("fs.s3a.access.key", "key")
    conf.set("fs.s3a.secret.key", secret)
    conf.set("fs.s3a.connection.ssl.enabled", "false")
    conf.set("fs.s3a.endpoint.region", "us-east-1")
    conf.set("fs.s3a.attempts.maximum", "1")
    conf.set("fs.s3a.retry.limit", "1")
    conf
  }

  /** With the messages and stacks of all causes. */
  private def said(e: Throwable): String = {
    val out = new StringWriter
    e.printStackTrace(new PrintWriter(out, true))
    out.toString
  }

  // The bucket is this suite's alone: file systems are kept by the bucket's name, for the suites behind it too.
  test("a call that S3 refuses is an error that tells neither the secret key nor other settings") {
    val access = Tables.access(conf)
    val calls = Seq[() => Any](
      () => TableConfig.read(access.storage, "s3a://refusing/t"),
      () => new Indexer(access, "s3a://refusing/t", IndexOptions()).create(),
      () => new Indexer(access, "s3a://refusing/t", IndexOptions()).update()
    )
    calls.foreach { call =>
      val text = said(intercept[HudiIdxException](call()))
      assert(text.contains("403") || text.contains("AccessDenied"), text)
      assert(!text.contains(secret))
    }
  }

  test("a path with a password in it is refused before any store is asked, and told without it") {
    val path = s"s3a://key:$secret@refusing/t"
    val access = Tables.access(conf)
    val calls = Seq[() => Any](
      () => Tables.qualified(path, conf),
      () => access.storage.list(path),
      () => access.storage.readAll(path),
      () => TableConfig.read(access.storage, path),
      () => new Indexer(access, path, IndexOptions()).create()
    )
    calls.foreach { call =>
      val text = said(intercept[InvalidOption](call()))
      assert(text.contains("s3a://key:***@refusing/t"))
      assert(!text.contains(secret))
    }
  }
}
