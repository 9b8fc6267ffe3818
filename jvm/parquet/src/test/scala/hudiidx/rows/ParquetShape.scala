package hudiidx.rows

import scala.util.Random

import org.apache.parquet.example.data.Group
import org.apache.parquet.io.api.Binary

/** A type of a Parquet file, and its values at random. */
sealed abstract class ParquetShape {

  /** The field as Parquet's schemas are written. */
  def text(name: String, repetition: String): String

  /** Adds a value to a field. */
  def fill(group: Group, name: String, random: Random): Unit
}

object ParquetShape {

  final case class Leaf(stored: String, as: String, value: (Group, String, Random) => Unit) extends ParquetShape {
    override def text(name: String, repetition: String): String = s"$repetition $stored $name $as;"
    override def fill(group: Group, name: String, random: Random): Unit = value(group, name, random)
  }

  final case class Part(name: String, shape: ParquetShape, isOptional: Boolean) {
    def text: String = shape.text(name, if (isOptional) "optional" else "required")
    def fill(group: Group, random: Random): Unit =
      if (!isOptional || random.nextInt(4) > 0) shape.fill(group, name, random)
  }

  final case class Struct(parts: Vector[Part]) extends ParquetShape {
    override def text(name: String, repetition: String): String =
      s"$repetition group $name { ${parts.map(_.text).mkString(" ")} }"
    override def fill(group: Group, name: String, random: Random): Unit = {
      val own = group.addGroup(name)
      parts.foreach(_.fill(own, random))
    }
  }

  /** With a group around each item, which may be null. */
  final case class ThreeLevels(item: Part) extends ParquetShape {
    override def text(name: String, repetition: String): String =
      s"$repetition group $name (LIST) { repeated group list { ${item.text} } }"
    override def fill(group: Group, name: String, random: Random): Unit = {
      val own = group.addGroup(name)
      (0 until random.nextInt(5)).foreach(_ => item.fill(own.addGroup("list"), random))
    }
  }

  /** Of older writers: what is repeated is the item. */
  final case class TwoLevels(item: ParquetShape, tuple: Boolean) extends ParquetShape {
    private def inner(name: String): String = if (tuple) name + "_tuple" else "array"
    override def text(name: String, repetition: String): String =
      s"$repetition group $name (LIST) { ${item.text(inner(name), "repeated")} }"
    override def fill(group: Group, name: String, random: Random): Unit = {
      val own = group.addGroup(name)
      (0 until random.nextInt(5)).foreach(_ => item.fill(own, inner(name), random))
    }
  }

  final case class Pairs(key: ParquetShape, value: Part, isOld: Boolean) extends ParquetShape {
    override def text(name: String, repetition: String): String =
      s"$repetition group $name (${if (isOld) "MAP_KEY_VALUE" else "MAP"}) { repeated group key_value { " +
        s"${key.text("key", "required")} ${value.text} } }"
    override def fill(group: Group, name: String, random: Random): Unit = {
      val own = group.addGroup(name)
      (0 until random.nextInt(4)).foreach { _ =>
        val entry = own.addGroup("key_value")
        key.fill(entry, "key", random)
        value.fill(entry, random)
      }
    }
  }

  private def bytes(random: Random, length: Int): Array[Byte] = {
    val made = new Array[Byte](length)
    random.nextBytes(made)
    made
  }

  private def binary(bytes: Array[Byte]): Binary = Binary.fromConstantByteArray(bytes)

  private def long(random: Random): Long = random.nextLong() >> random.nextInt(64)

  private def word(random: Random): String = "wörd" * random.nextInt(3) + random.nextInt(5)

  /** Decimals whose bytes take the whole of what is stored, or few of it. */
  private def decimal(stored: String, digits: Int, scale: Int, length: Int): Leaf =
    Leaf(
      stored,
      s"(DECIMAL($digits,$scale))",
      (g, n, r) => {
        val number = BigInt(digits - 2, r) * (if (r.nextBoolean()) 1 else -1)
        val own = number.toByteArray
        val padded = Array.fill(math.max(0, length - own.length))((if (number < 0) -1 else 0).toByte) ++ own
        g.append(n, binary(if (length > 0) padded else own)): Unit
      }
    )

  val leaves: Vector[Leaf] = Vector(
    Leaf("boolean", "", (g, n, r) => g.append(n, r.nextBoolean()): Unit),
    Leaf("int32", "", (g, n, r) => g.append(n, long(r).toInt): Unit),
    Leaf("int32", "(DATE)", (g, n, r) => g.append(n, r.nextInt(40000) - 20000): Unit),
    Leaf("int64", "", (g, n, r) => g.append(n, long(r)): Unit),
    Leaf("int64", "(TIMESTAMP(MILLIS,true))", (g, n, r) => g.append(n, r.nextLong() >> 20): Unit),
    Leaf("int64", "(TIMESTAMP(MICROS,false))", (g, n, r) => g.append(n, r.nextLong()): Unit),
    Leaf("int96", "", (g, n, r) => g.append(n, binary(bytes(r, 12))): Unit),
    Leaf("float", "", (g, n, r) => g.append(n, r.nextFloat() * r.nextInt(100)): Unit),
    Leaf("double", "", (g, n, r) => g.append(n, r.nextGaussian()): Unit),
    Leaf("binary", "(UTF8)", (g, n, r) => g.append(n, word(r)): Unit),
    Leaf("binary", "(ENUM)", (g, n, r) => g.append(n, word(r)): Unit),
    Leaf("binary", "", (g, n, r) => g.append(n, binary(bytes(r, r.nextInt(40)))): Unit),
    Leaf("fixed_len_byte_array(3)", "", (g, n, r) => g.append(n, binary(bytes(r, 3))): Unit),
    Leaf("int32", "(DECIMAL(9,2))", (g, n, r) => g.append(n, r.nextInt(999999999)): Unit),
    Leaf("int64", "(DECIMAL(18,3))", (g, n, r) => g.append(n, r.nextLong() >> 5): Unit),
    decimal("binary", 10, 2, 0),
    decimal("binary", 38, 10, 0),
    decimal("fixed_len_byte_array(5)", 10, 1, 5),
    decimal("fixed_len_byte_array(16)", 18, 2, 16),
    decimal("fixed_len_byte_array(16)", 38, 4, 16)
  )

  def at(random: Random, depth: Int): ParquetShape =
    if (depth == 0 || random.nextInt(3) == 0) leaves(random.nextInt(leaves.length))
    else
      random.nextInt(5) match {
        case 0 => Struct(parts(random, 1 + random.nextInt(3), depth - 1))
        case 1 => ThreeLevels(Part("element", at(random, depth - 1), random.nextBoolean()))
        case 2 => TwoLevels(at(random, depth - 1), tuple = false)
        case 3 => TwoLevels(Struct(parts(random, 1 + random.nextInt(2), depth - 1)), tuple = true)
        case 4 =>
          val key = leaves(random.nextInt(leaves.length))
          Pairs(key, Part("value", at(random, depth - 1), random.nextBoolean()), random.nextBoolean())
      }

  def parts(random: Random, count: Int, depth: Int): Vector[Part] =
    Vector.tabulate(count)(i => Part(s"f$i", at(random, depth), random.nextInt(3) > 0))
}
