package hudiidx

import java.io.{DataInputStream, FileInputStream}
import java.nio.file.{Files, Path, Paths}

import org.scalatest.Assertions._
import scala.collection.JavaConverters._

/** Where code makes numbers, dates and the like of texts. What is stored is others' input: each such place has an entry in its
  * module's suite, and takes every text there.
  */
object NumberSites {

  /** Texts that are numbers, nearly, or not at all. */
  val hostile: Vector[String] = Vector(
    "",
    "-1",
    "+1",
    "0",
    "x",
    " 1",
    "1 ",
    "1e9",
    "1E2147483647",
    "1.0",
    "0x10",
    "\u0663",
    "2147483648",
    "-2147483649",
    "9223372036854775807",
    "9223372036854775808",
    "99999999999999999999",
    "9" * 5000,
    "NaN",
    "Infinity",
    "null",
    "\u0000",
    "1\n2",
    "1-2-3",
    "{}",
    "[1]",
    "true"
  )

  /** Each of these texts is taken, or refused by an error of hudiidx. */
  def take(name: String, site: String => Any): Unit = hostile.foreach { text =>
    try site(text): Unit
    catch {
      case _: HudiIdxException => ()
      case e: Throwable        => fail(s"$name, given '${Texts.shown(text.take(60))}': $e", e)
    }
  }

  /** Classes (without those inside them) of a module that do so, by a class of the module. */
  def in(module: Class[_]): Set[String] = {
    val root = Paths.get(module.getProtectionDomain.getCodeSource.getLocation.toURI)
    val walk = Files.walk(root)
    try
      walk.iterator.asScala
        .filter(f => f.toString.endsWith(".class") && calls(f).exists(isSite))
        .map(f => root.relativize(f).toString.stripSuffix(".class").replace('/', '.').takeWhile(_ != '$'))
        .toSet
    finally walk.close()
  }

  private final case class Call(owner: String, name: String, signature: String)

  private def isSite(c: Call): Boolean = {
    val ofText = c.signature.startsWith("(Ljava/lang/String;") || c.signature.startsWith("(Ljava/lang/CharSequence;")
    c.owner match {
      case o if o.startsWith("scala/collection/") =>
        o.contains("String") && c.name.matches("to(Int|Long|Short|Byte|Double|Float|Boolean)(Option)?(\\$extension)?")
      case "java/lang/Integer" | "java/lang/Long" | "java/lang/Short" | "java/lang/Byte" | "java/lang/Double" |
          "java/lang/Float" =>
        ofText && (c.name.startsWith("parse") || c.name == "valueOf" || c.name == "decode")
      case "java/math/BigDecimal" | "java/math/BigInteger" => ofText && c.name == "<init>"
      case "scala/math/BigInt$" | "scala/math/BigDecimal$" => ofText && (c.name == "apply" || c.name == "exact")
      case "java/util/UUID"                                => c.name == "fromString"
      case o if o.startsWith("java/time/")                 => ofText && c.name == "parse"
      case _                                               => false
    }
  }

  /** What a class file's constants say of methods that it calls. */
  private def calls(file: Path): Vector[Call] = {
    val in = new DataInputStream(new java.io.BufferedInputStream(new FileInputStream(file.toFile)))
    try {
      in.skipBytes(8)
      val size = in.readUnsignedShort()
      val texts = new Array[String](size)
      val pairs = new Array[(Int, Int)](size)
      val methods = Vector.newBuilder[Int]
      var i = 1
      while (i < size) {
        in.readUnsignedByte() match {
          case 1          => texts(i) = in.readUTF()
          case 7 | 8 | 16 => pairs(i) = (in.readUnsignedShort(), 0)
          case 19 | 20    => in.skipBytes(2): Unit
          case 15         => in.skipBytes(3): Unit
          case 5 | 6      =>
            in.skipBytes(8)
            i += 1
          case 3 | 4   => in.skipBytes(4): Unit
          case 10 | 11 =>
            methods += i
            pairs(i) = (in.readUnsignedShort(), in.readUnsignedShort())
          case 9 | 12 | 17 | 18 => pairs(i) = (in.readUnsignedShort(), in.readUnsignedShort())
          case other            => fail(s"$file: constant of kind $other")
        }
        i += 1
      }
      methods.result().map { m =>
        val (owner, named) = pairs(m)
        val (name, signature) = pairs(named)
        Call(texts(pairs(owner)._1), texts(name), texts(signature))
      }
    } finally in.close()
  }
}
