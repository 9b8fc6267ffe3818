package hudiidx.log

import hudiidx.{AvroSchemas, DamagedTable, UnsupportedTable}
import hudiidx.bytes.{ByteCursor, Varint}
import java.util.{IdentityHashMap => JIdentityMap}
import org.apache.avro.Schema
import scala.collection.JavaConverters._

/** Finds wanted fields in Avro data of one writer's schema: everything else is jumped over, nothing is decoded or
  * allocated, and what stands behind the last wanted field is not looked at. Avro specification 1.11, binary encoding.
  */
final class AvroFieldPlan private (root: AvroStep, fieldCount: Int) {

  /** A row to read into, for one thread. */
  def newRow(): AvroRow = new AvroRow(fieldCount)

  /** Reads the datum at the cursor, which must not reach beyond `length` bytes. The row points into the cursor's bytes.
    * DamagedTable if the datum does not fit its schema.
    */
  def read(in: ByteCursor, length: Int, row: AvroRow): Unit = {
    val end = in.position + length
    row.clear(in)
    root.run(in, row)
    if (in.position > end) in.fail(s"record of $length bytes is longer by its schema")
  }
}

object AvroFieldPlan {

  /** @param fields names of fields of the top-level record, with dots for fields of records in it; absent ones are null.
    *               Distinct
    * @param where  names the schema in the DamagedTable that tells it cannot be understood
    */
  def compile(schemaJson: String, fields: Vector[String], where: String): AvroFieldPlan = {
    val schema = parse(schemaJson, where)
    if (schema.getType != Schema.Type.RECORD)
      throw new DamagedTable(s"$where: schema is of type ${schema.getType}, not a record; restore the file")
    new AvroFieldPlan(new AvroPlanCompiler(fields).compile(schema), fields.size)
  }

  /** The schema that a log block's header holds; DamagedTable if it is none, UnsupportedTable if bytes do not bound its data. */
  def parse(schemaJson: String, where: String): Schema = {
    val schema =
      try AvroSchemas.parse(schemaJson)
      catch {
        case e: RuntimeException =>
          throw new DamagedTable(s"$where: not an Avro schema: ${e.getMessage}; restore the file", e)
      }
    AvroSchemas
      .unbounded(schema)
      .foreach(what => throw new UnsupportedTable(s"$where: $what; roll back the write that has it"))
    schema
  }
}

/** Jumps over values of Avro types, decoding nothing. Keeps what it has compiled.
  *
  * @param looksInside also at items that could be jumped over by the size that is told of them, as Avro's own reader does:
  *                    for those who ask whether that reader would find what it is told of
  */
final class AvroSkips(looksInside: Boolean = false) {
  private val compiler = new AvroPlanCompiler(Vector.empty, looksInside)

  def of(schema: Schema): AvroSkip = new AvroSkip(compiler.skip(schema))
}

final class AvroSkip private[log] (step: AvroStep) {

  /** Moves the cursor behind one value. */
  def run(in: ByteCursor): Unit = step.run(in, null)
}

/** Where the wanted fields of the record last read stand. */
final class AvroRow private[log] (fieldCount: Int) extends AvroRowFields {
  private val starts, lengths = new Array[Int](fieldCount)
  private val schemas = new Array[Schema](fieldCount)
  private var in: ByteCursor = _

  private[log] def clear(cursor: ByteCursor): Unit = {
    in = cursor
    java.util.Arrays.fill(schemas.asInstanceOf[Array[Object]], null)
  }

  private[log] def set(field: Int, schema: Schema, from: Int, length: Int): Unit = {
    starts(field) = from
    lengths(field) = length
    schemas(field) = schema
  }

  override protected def damaged(what: String): Nothing = in.fail(what)

  def bytes: Array[Byte] = in.bytes

  /** Index in `bytes` of the field's value; of a string, bytes or fixed that of its first byte. */
  def from(field: Int): Int = starts(field)

  /** Bytes of the value, without the length in front of a string or bytes. */
  def length(field: Int): Int = lengths(field)

  /** The value's type, the branch taken if it is a union; null for null and for a field that the schema lacks. */
  def schema(field: Int): Schema = schemas(field)
}

/** One thing to do on the way through a datum. */
private[log] abstract class AvroStep {
  def run(in: ByteCursor, row: AvroRow): Unit
}

private object AvroStep {
  object Nothing extends AvroStep {
    def run(in: ByteCursor, row: AvroRow): Unit = ()
  }

  object Number extends AvroStep {
    def run(in: ByteCursor, row: AvroRow): Unit = in.varint("number"): Unit
  }

  object Sized extends AvroStep {
    def run(in: ByteCursor, row: AvroRow): Unit = in.skip(Varint.unZigZag(in.varint("length")), "string or bytes")
  }

  final class Fixed(size: Int) extends AvroStep {
    def run(in: ByteCursor, row: AvroRow): Unit = in.skip(size.toLong, "value of fixed size")
  }

  /** `steps` are set later: a type may stand in several places. */
  final class Fields extends AvroStep {
    var steps: Array[AvroStep] = Array.empty
    def run(in: ByteCursor, row: AvroRow): Unit = {
      var i = 0
      while (i < steps.length) {
        steps(i).run(in, row)
        i += 1
      }
    }
  }

  final class Branches(steps: Array[AvroStep]) extends AvroStep {
    def run(in: ByteCursor, row: AvroRow): Unit = {
      val branch = Varint.unZigZag(in.varint("union branch"))
      if (branch < 0 || branch >= steps.length) in.fail(s"union branch $branch of ${steps.length}")
      steps(branch.toInt).run(in, row)
    }
  }

  /** Arrays and maps: blocks of a count and so many items, the last with count 0. A negative count is followed by the
    * block's size, which lets it be jumped over whole.
    */
  final class Items(item: AvroStep, looksInside: Boolean) extends AvroStep {
    def run(in: ByteCursor, row: AvroRow): Unit = {
      var count = Varint.unZigZag(in.varint("item count"))
      while (count != 0) {
        val size = if (count < 0) Varint.unZigZag(in.varint("size of items")) else 0L
        if (count == Long.MinValue) in.fail(s"$count items")
        if (looksInside) count = math.abs(count)
        if (count < 0) in.skip(size, "items")
        else {
          if (count > in.remaining) in.fail(s"$count items cannot lie in ${in.remaining} bytes")
          var left = count
          while (left > 0) {
            item.run(in, row)
            left -= 1
          }
        }
        count = Varint.unZigZag(in.varint("item count"))
      }
    }
  }

  /** Notes where the value stands. */
  final class Take(slot: Int, schema: Schema, under: AvroStep) extends AvroStep {
    private val sized = schema.getType == Schema.Type.STRING || schema.getType == Schema.Type.BYTES
    def run(in: ByteCursor, row: AvroRow): Unit = {
      val size = if (sized) Varint.unZigZag(in.varint("length")) else 0L
      val from = in.position
      if (sized) in.skip(size, "string or bytes") else under.run(in, row)
      row.set(slot, schema, from, in.position - from)
    }
  }

  final class Both(first: AvroStep, second: AvroStep) extends AvroStep {
    def run(in: ByteCursor, row: AvroRow): Unit = {
      first.run(in, row)
      second.run(in, row)
    }
  }
}

private final class AvroPlanCompiler(fields: Vector[String], looksInside: Boolean = false) {
  import AvroStep._
  private val slots = fields.zipWithIndex.toMap
  private val parents = fields.flatMap(f => f.indices.filter(f(_) == '.').map(f.substring(0, _))).toSet
  private val skips = new JIdentityMap[Schema, AvroStep]()

  def compile(schema: Schema): AvroStep = record(schema, "")

  private def record(schema: Schema, prefix: String): AvroStep = {
    val all = schema.getFields.asScala.toVector
    val last = all.lastIndexWhere(f => isWanted(prefix + f.name))
    // Behind the last wanted field of the whole record nothing needs to be read; a record inside must be read to its end.
    val read = if (prefix.isEmpty) all.take(last + 1) else all
    val step = new Fields
    step.steps = read.map(f => wanted(f.schema, prefix + f.name)).toArray
    step
  }

  private def isWanted(path: String): Boolean = slots.contains(path) || parents(path)

  private def wanted(schema: Schema, path: String): AvroStep =
    if (!isWanted(path)) skip(schema)
    else
      schema.getType match {
        case Schema.Type.UNION  => new Branches(schema.getTypes.asScala.map(wanted(_, path)).toArray)
        case Schema.Type.NULL   => Nothing
        case Schema.Type.RECORD => take(schema, path, if (parents(path)) record(schema, path + ".") else skip(schema))
        case _                  => take(schema, path, skip(schema))
      }

  private def take(schema: Schema, path: String, under: AvroStep): AvroStep =
    slots.get(path).fold(under)(new Take(_, schema, under))

  def skip(schema: Schema): AvroStep = {
    val known = skips.get(schema)
    if (known != null) known
    else if (schema.getType == Schema.Type.RECORD) {
      val step = new Fields
      skips.put(schema, step)
      step.steps = schema.getFields.asScala.map(f => skip(f.schema)).toArray
      step
    } else {
      val step = leafOrContainer(schema)
      skips.put(schema, step)
      step
    }
  }

  private def leafOrContainer(schema: Schema): AvroStep = schema.getType match {
    case Schema.Type.NULL                                      => Nothing
    case Schema.Type.BOOLEAN                                   => new Fixed(1)
    case Schema.Type.FLOAT                                     => new Fixed(4)
    case Schema.Type.DOUBLE                                    => new Fixed(8)
    case Schema.Type.FIXED                                     => new Fixed(schema.getFixedSize)
    case Schema.Type.INT | Schema.Type.LONG | Schema.Type.ENUM => Number
    case Schema.Type.STRING | Schema.Type.BYTES                => Sized
    case Schema.Type.UNION => new Branches(schema.getTypes.asScala.map(skip).toArray)
    case Schema.Type.ARRAY =>
      new Items(skip(schema.getElementType), looksInside)
    case Schema.Type.MAP    => new Items(new Both(Sized, skip(schema.getValueType)), looksInside)
    case Schema.Type.RECORD => throw new IllegalStateException("records are compiled by skip")
  }
}
