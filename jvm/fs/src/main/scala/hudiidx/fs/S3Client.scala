package hudiidx.fs

import java.io.{ByteArrayInputStream, EOFException, FileNotFoundException, IOException, InputStream}
import java.time.Instant
import java.util.Date
import java.util.function.Consumer

import hudiidx.fs.Reflected.{call, hasMethod, itemsOf, mapped}
import hudiidx.storage.FileInfo
import org.apache.hadoop.fs.{FileSystem, Path}

/** One object, through the client that `hadoop-aws` has made with the user's settings and credentials. By reflection: which SDK
  * it is, if any, is known at run time alone.
  */
private[hudiidx] abstract class S3Client(fs: FileSystem, target: Path) {
  protected val requests: AnyRef = call(fs, "getRequestFactory")
  protected val bucket: String = call(fs, "getBucket").asInstanceOf[String]
  protected val key: String = call(fs, "pathToKey", classOf[Path] -> target).asInstanceOf[String]

  /** The status of a put that is to succeed only where no object is; `writer` is kept with it. */
  def put(content: Array[Byte], writer: String): Int = S3Client.status(put(content, Some(writer)))

  /** Puts an object, whatever is there. */
  def put(content: Array[Byte]): Unit = {
    val status = S3Client.status(put(content, None))
    if (status != S3Client.Done) throw new IOException(s"$target: the store answered a put with status $status")
  }

  /** @param ifAbsent puts only where no object is, as this writer */
  protected def put(content: Array[Byte], ifAbsent: Option[String]): Unit

  /** Who put the object that is there. */
  def writer(): Option[String]

  /** All of a small object, by one request; its client asks first how long it is. What it is, as a file under this path, if it is larger.
    * FileNotFoundException if there is none.
    */
  def get(path: String): Either[FileInfo, Array[Byte]] =
    try {
      val found = opened(None)
      if (found.sizeBytes <= S3Client.SmallBytes) Right(read(found, found.sizeBytes.toInt))
      else {
        // Else the client reads to the end.
        call(found.content, "abort")
        Left(found.file(path))
      }
    } catch { case e: RuntimeException => throw S3Client.failed(target, e) }

  /** The object as a file under this path, and its first bytes, by one request. None if it has none. FileNotFoundException if there is no
    * such object.
    */
  def begin(path: String): Option[(FileInfo, Array[Byte])] =
    try {
      val found = opened(Some(S3Client.FirstBytes.toLong))
      val first = read(found, math.min(found.sizeBytes, S3Client.FirstBytes.toLong).toInt)
      Some(found.file(path) -> first)
    } catch {
      case e: RuntimeException if S3Client.codeOf(e).contains(S3Client.NoRange) => None
      case e: RuntimeException                                                  => throw S3Client.failed(target, e)
    }

  private def read(found: S3Content, length: Int): Array[Byte] =
    try {
      val bytes = found.content.readNBytes(length)
      if (bytes.length < length)
        throw new EOFException(s"$target: the answer ends after ${bytes.length} of $length bytes")
      bytes
    } finally found.content.close()

  /** @param first so many bytes of it; None: all */
  protected def opened(first: Option[Long]): S3Content

  def isThere(): Boolean =
    try {
      look()
      true
    } catch {
      case e: RuntimeException =>
        S3Client.failed(target, e) match {
          case _: FileNotFoundException => false
          case other                    => throw other
        }
    }

  /** Asks what the object is. */
  protected def look(): AnyRef

  /** What lies directly under it as a folder, by one request for each page; nothing where there is no such folder.
    *
    *  @param folder the same, as paths of what is found are to name it
    *  @param deep   the files in all folders below it in place of the folders
    */
  def list(folder: String, deep: Boolean): Vector[FileInfo] =
    try {
      val prefix = if (key.isEmpty) "" else s"$key/"
      val pages = Iterator
        .iterate(Option(page(prefix, deep, None)))(_.flatMap(_.next).map(token => page(prefix, deep, Some(token))))
        .takeWhile(_.isDefined)
      pages.flatten.flatMap(_.entries).flatMap(_.under(prefix, folder)).toVector
    } catch { case e: RuntimeException => throw S3Client.failed(target, e) }

  /** @param token what the page before told of the next one */
  protected def page(prefix: String, deep: Boolean, token: Option[String]): S3Page

  /** Removes it, without a look at the folder around it. */
  def delete(): Unit = S3Client.status(remove()): Unit

  protected def remove(): Unit
}

private[hudiidx] object S3Client {
  private val Purpose = "hudiidx publishes"
  private val Condition = "If-None-Match"
  private val WriterKey = "hudiidx-writer"

  /** Of so many an object is put, or got, by one request. */
  val SmallBytes: Int = 1 << 20

  /** So many bytes come with the answer what an object is. */
  val FirstBytes: Int = 64 << 10

  /** Of the SDK 1 and 2. */
  private val StatusOfError = Vector("getStatusCode", "statusCode")

  /** Statuses that a put has. */
  val Done = 200
  val Conflict = 409
  val Taken = 412
  val NotImplemented = 501
  private val Absent = 404

  /** The object has no bytes in the range that was asked for. */
  private val NoRange = 416

  /** How many keys hadoop-aws asks for at once. */
  private val PageKeys = "fs.s3a.paging.maximum"

  /** In the error's text, or its class. */
  private val NoBucket = "NoSuchBucket"

  /** None where hadoop-aws is of a release whose client is not to be had. */
  def of(fs: FileSystem, target: Path): Option[S3Client] =
    try Some(if (hasMethod(fs, "getS3AInternals")) new Sdk2(fs, target) else new Sdk1(fs, target))
    catch { case _: ReflectiveOperationException => None }

  /** hadoop-aws 3.3 and the SDK for Java 1. */
  private final class Sdk1(fs: FileSystem, target: Path) extends S3Client(fs, target) {
    private val client = call(fs, "getAmazonS3ClientForTesting", classOf[String] -> Purpose)

    override protected def put(content: Array[Byte], ifAbsent: Option[String]): Unit = {
      val metadata = call(requests, "newObjectMetadata", classOf[Long] -> Long.box(content.length.toLong))
      ifAbsent.foreach(w => call(metadata, "addUserMetadata", classOf[String] -> WriterKey, classOf[String] -> w))
      val body = classOf[InputStream] -> new ByteArrayInputStream(content)
      val request =
        call(requests, "newPutObjectRequest", classOf[String] -> key, metadata.getClass -> metadata, body)
      ifAbsent.foreach(_ =>
        call(request, "putCustomRequestHeader", classOf[String] -> Condition, classOf[String] -> "*")
      )
      call(client, "putObject", request.getClass -> request): Unit
    }

    override def writer(): Option[String] = {
      Option(call(look(), "getUserMetaDataOf", classOf[String] -> WriterKey)).map(_.toString)
    }

    override protected def look(): AnyRef =
      call(client, "getObjectMetadata", classOf[String] -> bucket, classOf[String] -> key)

    override protected def opened(first: Option[Long]): S3Content = {
      val request = call(requests, "newGetObjectRequest", classOf[String] -> key)
      first.foreach(n => call(request, "setRange", classOf[Long] -> Long.box(0L), classOf[Long] -> Long.box(n - 1)))
      val found = call(client, "getObject", request.getClass -> request)
      val metadata = call(found, "getObjectMetadata")
      S3Content(
        call(metadata, "getInstanceLength").asInstanceOf[Long],
        call(metadata, "getLastModified").asInstanceOf[Date].getTime,
        textOf(call(metadata, "getETag")),
        call(found, "getObjectContent").asInstanceOf[InputStream]
      )
    }

    override protected def page(prefix: String, deep: Boolean, token: Option[String]): S3Page = {
      val request = call(requests, "newListObjectsV2Request", paged(fs, prefix, deep): _*)
      token.foreach(t => call(request, "setContinuationToken", classOf[String] -> t))
      val found = call(client, "listObjectsV2", request.getClass -> request)
      val objects = mapped(found, "getObjectSummaries", "getKey", "getSize", "getLastModified", "getETag") {
        case Seq(name: String, size: Long, at: Date, tag) => S3Entry(name, size, at.getTime, textOf(tag))
      }
      val folders = itemsOf(found, "getCommonPrefixes").map(name => S3Entry.folder(name.toString))
      S3Page(objects ++ folders, Option(call(found, "getNextContinuationToken")).map(_.toString))
    }

    override protected def remove(): Unit =
      call(client, "deleteObject", classOf[String] -> bucket, classOf[String] -> key): Unit
  }

  /** hadoop-aws from 3.4 on and the SDK for Java 2. */
  private final class Sdk2(fs: FileSystem, target: Path) extends S3Client(fs, target) {
    private val loader = fs.getClass.getClassLoader
    private val client = call(call(fs, "getS3AInternals"), "getAmazonS3Client", classOf[String] -> Purpose)
    private val options = named("org.apache.hadoop.fs.s3a.impl.PutObjectOptions")

    /** Those of a put that leaves markers of folders: hadoop-aws 3.5 removes none. */
    private def plain: AnyRef = {
      val names = options.getMethods.map(_.getName).toSet
      options.getMethod(if (names("keepingDirs")) "keepingDirs" else "defaultOptions").invoke(null)
    }

    private def named(name: String): Class[_] = Class.forName(name, true, loader)
    private def model(name: String): Class[_] = named(s"software.amazon.awssdk.services.s3.model.$name")

    override protected def put(content: Array[Byte], ifAbsent: Option[String]): Unit = {
      val builder = call(
        requests,
        "newPutObjectRequestBuilder",
        classOf[String] -> key,
        options -> plain,
        classOf[Long] -> Long.box(content.length.toLong),
        classOf[Boolean] -> Boolean.box(false)
      )
      val withCondition: Consumer[AnyRef] =
        c => call(c, "putHeader", classOf[String] -> Condition, classOf[String] -> "*"): Unit
      ifAbsent.foreach { writer =>
        call(builder, "metadata", classOf[java.util.Map[_, _]] -> java.util.Map.of(WriterKey, writer))
        call(builder, "overrideConfiguration", classOf[Consumer[_]] -> withCondition)
      }
      val bodies = named("software.amazon.awssdk.core.sync.RequestBody")
      val body = bodies.getMethod("fromBytes", classOf[Array[Byte]]).invoke(null, content)
      call(client, "putObject", model("PutObjectRequest") -> call(builder, "build"), bodies -> body): Unit
    }

    override def writer(): Option[String] = {
      Option(call(look(), "metadata").asInstanceOf[java.util.Map[String, String]].get(WriterKey))
    }

    override protected def look(): AnyRef = ofObject("headObject", "HeadObjectRequest")

    override protected def opened(first: Option[Long]): S3Content = {
      val builder = call(requests, "newGetObjectRequestBuilder", classOf[String] -> key)
      first.foreach(n => call(builder, "range", classOf[String] -> s"bytes=0-${n - 1}"))
      val in = call(client, "getObject", model("GetObjectRequest") -> call(builder, "build"))
      val answer = call(in, "response")
      val length = Option(call(answer, "contentRange")).fold(call(answer, "contentLength").asInstanceOf[Long])(range =>
        range.toString.drop(range.toString.lastIndexOf('/') + 1).toLong
      )
      val modified = call(answer, "lastModified").asInstanceOf[Instant].toEpochMilli
      S3Content(length, modified, textOf(call(answer, "eTag")), in.asInstanceOf[InputStream])
    }

    override protected def page(prefix: String, deep: Boolean, token: Option[String]): S3Page = {
      val builder = call(requests, "newListObjectsV2RequestBuilder", paged(fs, prefix, deep): _*)
      token.foreach(t => call(builder, "continuationToken", classOf[String] -> t))
      val found = call(client, "listObjectsV2", model("ListObjectsV2Request") -> call(builder, "build"))
      val objects = mapped(found, "contents", "key", "size", "lastModified", "eTag") {
        case Seq(name: String, size: Long, at: Instant, tag) => S3Entry(name, size, at.toEpochMilli, textOf(tag))
      }
      val folders = mapped(found, "commonPrefixes", "prefix") { case Seq(name) => S3Entry.folder(name.toString) }
      S3Page(objects ++ folders, Option(call(found, "nextContinuationToken")).map(_.toString))
    }

    override protected def remove(): Unit = ofObject("deleteObject", "DeleteObjectRequest"): Unit

    private def ofObject(method: String, name: String): AnyRef = {
      val request = model(name)
      val builder = request.getMethod("builder").invoke(null)
      call(builder, "bucket", classOf[String] -> bucket)
      call(builder, "key", classOf[String] -> key)
      call(client, method, request -> call(builder, "build"))
    }
  }

  /** 200, or the status of the service's error; IOException for any other failure. */
  private def status(request: => Any): Int =
    try {
      request
      Done
    } catch {
      case e: RuntimeException =>
        codeOf(e).filter(Set(Conflict, Taken, NotImplemented)).getOrElse(throw new IOException(e.getMessage, e))
      case e: ReflectiveOperationException => throw new IOException(s"this hadoop-aws is not known: $e", e)
    }

  private def codeOf(e: RuntimeException): Option[Int] =
    StatusOfError.find(hasMethod(e, _)).map(call(e, _).asInstanceOf[Int])

  private def failed(target: Path, e: RuntimeException): IOException = {
    val isAbsent = codeOf(e).contains(Absent) && !e.toString.contains(NoBucket)
    val told = if (isAbsent) new FileNotFoundException(target.toString) else new IOException(e.getMessage)
    told.initCause(e)
    told
  }

  /** Arguments of a request for a page of what lies under a prefix, as long as hadoop-aws would make it. */
  private def paged(fs: FileSystem, prefix: String, deep: Boolean): Seq[(Class[_], Any)] = {
    val most = Int.box(fs.getConf.getInt(PageKeys, 5000))
    Seq(classOf[String] -> prefix, classOf[String] -> (if (deep) null else "/"), classOf[Int] -> most)
  }

  private def textOf(tag: Any): String = Option(tag).fold("")(_.toString)
}
