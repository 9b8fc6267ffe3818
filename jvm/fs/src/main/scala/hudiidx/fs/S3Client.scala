package hudiidx.fs

import java.io.{ByteArrayInputStream, EOFException, FileNotFoundException, IOException, InputStream}
import java.lang.reflect.{InvocationTargetException, Modifier}
import java.util.function.Consumer

import org.apache.hadoop.fs.{FileSystem, Path}

/** One object, through the client that `hadoop-aws` has made with the user's settings and credentials. By reflection: which SDK
  * it is, if any, is known at run time alone.
  */
private[hudiidx] abstract class S3Client(fs: FileSystem, target: Path) {
  protected val requests: AnyRef = S3Client.call(fs, "getRequestFactory")
  protected val bucket: String = S3Client.call(fs, "getBucket").asInstanceOf[String]
  protected val key: String = S3Client.call(fs, "pathToKey", classOf[Path] -> target).asInstanceOf[String]

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

  /** All of a small object, by one request; its client asks first how long it is. None if it is larger. FileNotFoundException if there is
    * none.
    */
  def get(): Option[Array[Byte]] =
    try {
      val (length, in) = opened()
      try
        if (length > S3Client.SmallBytes) {
          // Else the client reads to the end.
          S3Client.call(in, "abort"): Unit
          None
        } else {
          val bytes = in.readNBytes(length.toInt)
          if (bytes.length < length)
            throw new EOFException(s"$target: the answer ends after ${bytes.length} of $length bytes")
          Some(bytes)
        }
      finally in.close()
    } catch { case e: RuntimeException => throw S3Client.failed(target, e) }

  /** The object's length and content. */
  protected def opened(): (Long, InputStream)

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

  /** Of the SDK 1 and 2. */
  private val StatusOfError = Vector("getStatusCode", "statusCode")

  /** Statuses that a put has. */
  val Done = 200
  val Conflict = 409
  val Taken = 412
  val NotImplemented = 501
  private val Absent = 404

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
      val metadata = call(client, "getObjectMetadata", classOf[String] -> bucket, classOf[String] -> key)
      Option(call(metadata, "getUserMetaDataOf", classOf[String] -> WriterKey)).map(_.toString)
    }

    override protected def opened(): (Long, InputStream) = {
      val request = call(requests, "newGetObjectRequest", classOf[String] -> key)
      val found = call(client, "getObject", request.getClass -> request)
      val length = call(call(found, "getObjectMetadata"), "getContentLength").asInstanceOf[Long]
      (length, call(found, "getObjectContent").asInstanceOf[InputStream])
    }

    override protected def remove(): Unit =
      call(client, "deleteObject", classOf[String] -> bucket, classOf[String] -> key): Unit
  }

  /** hadoop-aws 3.4 and the SDK for Java 2. */
  private final class Sdk2(fs: FileSystem, target: Path) extends S3Client(fs, target) {
    private val loader = fs.getClass.getClassLoader
    private val client = call(call(fs, "getS3AInternals"), "getAmazonS3Client", classOf[String] -> Purpose)
    private val options = named("org.apache.hadoop.fs.s3a.impl.PutObjectOptions")

    private def named(name: String): Class[_] = Class.forName(name, true, loader)
    private def model(name: String): Class[_] = named(s"software.amazon.awssdk.services.s3.model.$name")

    override protected def put(content: Array[Byte], ifAbsent: Option[String]): Unit = {
      val builder = call(
        requests,
        "newPutObjectRequestBuilder",
        classOf[String] -> key,
        options -> options.getMethod("keepingDirs").invoke(null),
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
      val found = ofObject("headObject", "HeadObjectRequest")
      Option(call(found, "metadata").asInstanceOf[java.util.Map[String, String]].get(WriterKey))
    }

    override protected def opened(): (Long, InputStream) = {
      val builder = call(requests, "newGetObjectRequestBuilder", classOf[String] -> key)
      val in = call(client, "getObject", model("GetObjectRequest") -> call(builder, "build"))
      val length = call(call(in, "response"), "contentLength").asInstanceOf[Long]
      (length, in.asInstanceOf[InputStream])
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

  private def hasMethod(target: AnyRef, name: String): Boolean =
    target.getClass.getMethods.exists(m => m.getName == name && m.getParameterCount == 0)

  /** Calls a public method by the types that it is declared with, whatever the class that implements it. */
  private def call(target: AnyRef, name: String, arguments: (Class[_], Any)*): AnyRef = {
    val types = arguments.map(_._1)
    val declared = publicTypes(target.getClass).iterator
      .flatMap(c => c.getMethods.find(m => m.getName == name && m.getParameterTypes.toSeq == types))
    if (!declared.hasNext) throw new NoSuchMethodException(s"${target.getClass.getName}.$name")
    try declared.next().invoke(target, arguments.map(_._2.asInstanceOf[AnyRef]): _*)
    catch { case e: InvocationTargetException => throw e.getCause }
  }

  /** Methods of a class that is not public are called through what it extends. */
  private def publicTypes(c: Class[_]): Vector[Class[_]] =
    if (c == null) Vector.empty
    else {
      val above = c.getInterfaces.toVector.flatMap(publicTypes) ++ publicTypes(c.getSuperclass)
      if (Modifier.isPublic(c.getModifiers)) c +: above else above
    }
}
