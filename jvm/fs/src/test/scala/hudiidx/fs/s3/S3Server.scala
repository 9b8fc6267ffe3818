package hudiidx.fs.s3

import java.io.IOException
import java.net.{InetAddress, InetSocketAddress, ServerSocket, URI}
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.nio.file.{Files, Path}
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{ConcurrentLinkedQueue, Executors, TimeUnit}

import scala.collection.JavaConverters._

import com.sun.net.httpserver.{HttpExchange, HttpServer}
import hudiidx.Fixtures
import org.apache.hadoop.conf.Configuration

/** What a store makes of the condition of a put. */
sealed trait Conditions
object Conditions {
  case object Kept extends Conditions
  case object PassedOver extends Conditions
  case object Refused extends Conditions
}

/** S3Proxy in a process of its own, with a folder of the local disk as its store, behind a door that counts calls. */
final class S3Server extends AutoCloseable {
  @volatile var conditions: Conditions = Conditions.Kept

  /** Every so many-th request is refused with "slow down" (503); 0: none. */
  @volatile var refusesEach = 0
  private val requests = new AtomicInteger

  /** So many answers to gets end in their middle. */
  val cutsGets = new AtomicInteger
  private val folder = Fixtures.newFolder("s3")
  private val loopback = InetAddress.getLoopbackAddress
  private val behind = freePort()
  private val process = start()
  private val client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()
  private val asked = new ConcurrentLinkedQueue[S3Request]
  @volatile private var delayMillis = 0L
  private val threads = Executors.newCachedThreadPool()
  // Without it each answer waits for the client's acknowledgement of its first packet.
  System.setProperty("sun.net.httpserver.nodelay", "true")
  private val door = HttpServer.create(new InetSocketAddress(loopback, 0), 0)
  door.createContext("/", exchange => pass(exchange))
  door.setExecutor(threads)
  door.start()
  waitFor()

  private def freePort(): Int = {
    val socket = new ServerSocket(0, 1, loopback)
    try socket.getLocalPort
    finally socket.close()
  }

  private def start(): Process = {
    val store = Files.createDirectories(folder.resolve("store"))
    val settings = folder.resolve("s3proxy.conf")
    val lines = Vector(
      "s3proxy.authorization=none",
      s"s3proxy.endpoint=http://127.0.0.1:$behind",
      "jclouds.provider=filesystem-nio2",
      s"jclouds.filesystem.basedir=$store"
    )
    Files.write(settings, lines.asJava)
    val java = Path.of(sys.props("java.home"), "bin", "java").toString
    val command = Vector(
      java,
      "-Xmx256m",
      "-XX:TieredStopAtLevel=1",
      "-XX:+UseSerialGC",
      "-cp",
      sys.props("hudiidx.s3proxy"),
      "org.gaul.s3proxy.Main"
    )
    new ProcessBuilder((command ++ Vector("--properties", settings.toString)).asJava)
      .redirectErrorStream(true)
      .redirectOutput(folder.resolve("s3proxy.log").toFile)
      .start()
  }

  private def waitFor(): Unit = {
    val patience = System.currentTimeMillis() + 60000
    var isUp = false
    while (!isUp) {
      if (!process.isAlive || System.currentTimeMillis() > patience)
        throw new IOException(
          s"S3Proxy did not start: ${new String(Files.readAllBytes(folder.resolve("s3proxy.log")))}"
        )
      try {
        bucket("ready")
        isUp = true
      } catch { case _: IOException => Thread.sleep(100) }
    }
  }

  /** Makes a bucket. */
  def bucket(name: String): Unit = {
    val put =
      HttpRequest.newBuilder(URI.create(s"http://127.0.0.1:$behind/$name")).PUT(HttpRequest.BodyPublishers.noBody())
    val status = client.send(put.build(), HttpResponse.BodyHandlers.discarding()).statusCode
    if (status != 200 && status != 409) throw new IOException(s"bucket $name: $status")
  }

  def configuration: Configuration = {
    val conf = new Configuration
    conf.set("fs.s3a.endpoint", s"http://127.0.0.1:${door.getAddress.getPort}")
    conf.set("fs.s3a.path.style.access", "true")
    conf.set("fs.s3a.access.key", "any")
    conf.set("fs.s3a.secret.key", "any")
    conf.set("fs.s3a.connection.ssl.enabled", "false")
    conf.set("fs.s3a.endpoint.region", "us-east-1")
    // As docs/tuning.md says; before Hadoop 3.5 the only one.
    conf.set("fs.s3a.input.stream.type", "classic")
    conf.setBoolean("fs.s3a.impl.disable.cache", false)
    conf
  }

  /** Calls of `deed` by kind: list, head, get, put, post, delete; and `round trips`, the most of them that followed each other. Each
    * waits a little, so that those which are made at once are seen to be.
    */
  def callsOf(deed: => Unit): Map[String, Long] = {
    asked.clear()
    delayMillis = S3Server.DelayMillis
    try deed
    finally delayMillis = 0
    val found = asked.asScala.toVector
    val kinds = found.groupBy(_.kind).map { case (kind, all) => kind -> all.size.toLong }
    if (found.isEmpty) kinds else kinds + (S3Server.RoundTrips -> S3Server.roundTrips(found))
  }

  private def pass(exchange: HttpExchange): Unit = {
    val began = System.nanoTime()
    try {
      if (delayMillis > 0) Thread.sleep(delayMillis)
      if (refusesEach > 0 && requests.incrementAndGet() % refusesEach == 0) slowDown(exchange)
      else passed(exchange, began)
    } finally exchange.close()
  }

  private def slowDown(exchange: HttpExchange): Unit = {
    exchange.getRequestBody.readAllBytes()
    val told = "<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>".getBytes
    val isHead = exchange.getRequestMethod == "HEAD"
    exchange.sendResponseHeaders(503, if (isHead) -1 else told.length.toLong)
    if (!isHead) exchange.getResponseBody.write(told)
  }

  private def passed(exchange: HttpExchange, began: Long): Unit = {
    val body = exchange.getRequestBody.readAllBytes()
    val isConditional = exchange.getRequestHeaders.containsKey("If-None-Match") && exchange.getRequestMethod == "PUT"
    val answer =
      if (isConditional && conditions == Conditions.Refused) None else Some(forward(exchange, body))
    // Before it is given: who gets it may ask again at once.
    asked.add(S3Request(kind(exchange), exchange.getRequestURI.toString, began, System.nanoTime()))
    answer.fold(exchange.sendResponseHeaders(501, -1))(give(exchange, _))
  }

  private def give(exchange: HttpExchange, answer: HttpResponse[Array[Byte]]): Unit = {
    answer.headers.map.asScala.foreach { case (name, values) =>
      if (!S3Server.OfTheConnection(name.toLowerCase)) values.forEach(v => exchange.getResponseHeaders.add(name, v))
    }
    if (exchange.getRequestMethod == "HEAD") {
      answer.headers
        .firstValue("content-length")
        .ifPresent(v => exchange.getResponseHeaders.set("Content-Length", v))
      exchange.sendResponseHeaders(answer.statusCode, -1)
    } else {
      exchange.sendResponseHeaders(answer.statusCode, if (answer.body.isEmpty) -1 else answer.body.length.toLong)
      val isCut = exchange.getRequestMethod == "GET" && answer.body.length > 1 && cutsGets.getAndUpdate(n =>
        math.max(0, n - 1)
      ) > 0
      exchange.getResponseBody.write(answer.body, 0, if (isCut) answer.body.length / 2 else answer.body.length)
    }
  }

  private def forward(exchange: HttpExchange, body: Array[Byte]): HttpResponse[Array[Byte]] = {
    val uri = URI.create(s"http://127.0.0.1:$behind${exchange.getRequestURI.toString}")
    val request =
      HttpRequest.newBuilder(uri).method(exchange.getRequestMethod, HttpRequest.BodyPublishers.ofByteArray(body))
    exchange.getRequestHeaders.asScala.foreach { case (name, values) =>
      val isPassed = !S3Server.OfTheConnection(name.toLowerCase) &&
        !(name.equalsIgnoreCase("If-None-Match") && conditions == Conditions.PassedOver)
      if (isPassed) values.forEach(v => request.header(name, v): Unit)
    }
    client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray())
  }

  private def kind(exchange: HttpExchange): String = {
    val query = Option(exchange.getRequestURI.getQuery).getOrElse("")
    if (exchange.getRequestMethod == "GET" && query.contains("list-type=")) "list"
    else exchange.getRequestMethod.toLowerCase
  }

  override def close(): Unit = {
    door.stop(0)
    threads.shutdownNow()
    process.destroy()
    if (!process.waitFor(20, TimeUnit.SECONDS)) process.destroyForcibly(): Unit
  }
}

/** What was asked, and when, in nanoseconds. */
final private[s3] case class S3Request(kind: String, target: String, began: Long, ended: Long)

object S3Server {
  val RoundTrips = "round trips"
  private val DelayMillis = 60L

  /** The most requests of which each began after the one before it had ended. */
  private[s3] def roundTrips(asked: Vector[S3Request]): Long =
    asked
      .sortBy(_.ended)
      .foldLeft((0L, Long.MinValue)) { case ((trips, free), r) =>
        if (r.began >= free) (trips + 1, r.ended) else (trips, free)
      }
      ._1

  /** Headers that each hop has its own of. */
  private val OfTheConnection = Set("connection", "content-length", "expect", "host", "transfer-encoding", "upgrade")
}
