package hudiidx.timeline

import hudiidx.AvroSchemas
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.ConcurrentHashMap

import org.apache.avro.Schema

/** Reads one Avro datum by its writer's schema, taking fields by name and jumping over the rest. No reader schema: what
  *  releases wrote differs in unions and added fields only, and building no record for each write stat makes large
  *  commits several times faster to read than through GenericDatumReader.
  *  Avro specification 1.11, binary encoding. Every length is checked against the bytes that are left.
  */
private[timeline] final class AvroReader(bytes: Array[Byte], start: Int, end: Int, root: Schema) extends ValueReader {
  private var at: Int = start

  /** Schema of the value that comes next. */
  private var next: Schema = root

  /** Values of arrays and maps so far, those inside others too. */
  private var counted = 0L

  /** Fields so far that took no bytes. */
  private var empty = 0L
  private val skipField: String => Unit = _ => skip()

  def position: Int = at

  def nextSchema: Schema = next

  override def fields(onField: String => Unit): Unit = {
    val schema = resolve()
    schema.getType match {
      case Schema.Type.NULL   => ()
      case Schema.Type.RECORD => fieldsOf(schema)(onField)
      case Schema.Type.MAP    =>
        val values = schema.getValueType
        val onEven = ifEven(onField)
        blocks { () =>
          val key = readString()
          next = values
          onEven(key)
        }
      case other => wrong("a record or map", other)
    }
  }

  override def items(onItem: () => Unit): Unit = {
    val schema = resolve()
    schema.getType match {
      case Schema.Type.NULL  => ()
      case Schema.Type.ARRAY =>
        val elements = schema.getElementType
        blocks { () =>
          next = elements
          onItem()
        }
      case other => wrong("an array", other)
    }
  }

  override def string(): String = {
    val schema = resolve()
    schema.getType match {
      case Schema.Type.NULL                       => null
      case Schema.Type.STRING | Schema.Type.BYTES => readString()
      case other                                  => wrong("a string", other)
    }
  }

  override def long(): Long = {
    val schema = resolve()
    schema.getType match {
      case Schema.Type.NULL                   => 0L
      case Schema.Type.INT | Schema.Type.LONG => readLong()
      case other                              => wrong("an integer", other)
    }
  }

  override def boolean(): Boolean = {
    val schema = resolve()
    schema.getType match {
      case Schema.Type.NULL    => false
      case Schema.Type.BOOLEAN => bytes(advance(1)) != 0
      case other               => wrong("a boolean", other)
    }
  }

  override def skip(): Unit = {
    val schema = resolve()
    schema.getType match {
      case Schema.Type.NULL                                      => ()
      case Schema.Type.BOOLEAN                                   => advance(1): Unit
      case Schema.Type.INT | Schema.Type.LONG | Schema.Type.ENUM => readLong(): Unit
      case Schema.Type.FLOAT                                     => advance(4): Unit
      case Schema.Type.DOUBLE                                    => advance(8): Unit
      case Schema.Type.STRING | Schema.Type.BYTES                => advance(readLength()): Unit
      case Schema.Type.FIXED                                     => advance(schema.getFixedSize.toLong): Unit
      case Schema.Type.RECORD                                    => fieldsOf(schema)(skipField)
      case Schema.Type.ARRAY                                     => skipBlocks(isMap = false, schema.getElementType)
      case Schema.Type.MAP                                       => skipBlocks(isMap = true, schema.getValueType)
      case other                                                 => wrong("a known type", other)
    }
  }

  override def requireEnd(): Unit =
    if (at != end) throw new BadContent(s"${end - at} bytes follow the record at offset $at")

  /** Fields of no bytes are no more than the datum has bytes, but for a few: a schema may have any number of them for each byte. */
  private def fieldsOf(record: Schema)(onField: String => Unit): Unit = {
    val all = record.getFields
    var i = 0
    while (i < all.size) {
      val field = all.get(i)
      val from = at
      next = field.schema
      onField(field.name)
      if (at == from) empty += 1
      if (empty > end - start + AvroReader.FewFields)
        throw new BadContent(s"$empty fields that take no bytes, in ${end - start} bytes, at offset $at")
      i += 1
    }
  }

  private def skipBlocks(isMap: Boolean, values: Schema): Unit = blocks { () =>
    if (isMap) advance(readLength())
    next = values
    skip()
  }

  /** Arrays and maps: blocks of a count and so many values, the last with count 0. A negative count is followed by the
    *  block's size in bytes. A value takes at least one byte, so a greater count than bytes left is damage, and so are more
    *  values altogether than the datum has bytes: without that a few bytes could count any number of values that have none.
    */
  private def blocks(onValue: () => Unit): Unit = {
    var count = readLong()
    while (count != 0) {
      if (count < 0) {
        count = -count
        readLong()
      }
      counted += math.max(count, 0L)
      if (count < 0 || count > end - at || counted > end - start)
        throw new BadContent(s"a block of $count values passes the end (${end - at} bytes left) at offset $at")
      while (count > 0) {
        onValue()
        count -= 1
      }
      count = readLong()
    }
  }

  private def resolve(): Schema =
    if (next.getType != Schema.Type.UNION) next
    else {
      val branch = readLong()
      val types = next.getTypes
      if (branch < 0 || branch >= types.size)
        throw new BadContent(s"union branch $branch of ${types.size} at offset $at")
      types.get(branch.toInt)
    }

  def readLong(): Long = {
    var result = 0L
    var shift = 0
    var b = 0
    do {
      if (shift > 63) throw new BadContent(s"a number longer than ten bytes at offset $at")
      b = bytes(advance(1)).toInt
      result |= (b & 0x7fL) << shift
      shift += 7
    } while ((b & 0x80) != 0)
    (result >>> 1) ^ -(result & 1)
  }

  private def readLength(): Long = {
    val length = readLong()
    if (length < 0) throw new BadContent(s"length $length at offset $at")
    length
  }

  def readString(): String = {
    val length = readLength()
    val from = advance(length)
    new String(bytes, from, length.toInt, UTF_8)
  }

  /** Moves on by `length` bytes and gives the offset before. */
  def advance(length: Long): Int = {
    if (length > end - at)
      throw new BadContent(s"$length bytes at offset $at pass the end (${end - at} bytes left)")
    val from = at
    at += length.toInt
    from
  }

  private def wrong(expected: String, found: Schema.Type): Nothing =
    throw new BadContent(s"Avro type $found where $expected was expected at offset $at")
}

private object AvroReader {

  /** Fields of no bytes that data of no bytes may have. */
  private val FewFields = 16
}

/** Avro object container files with one record, as instant files are. Avro specification 1.11. */
private[timeline] object AvroContainer {
  private val Magic = Array[Byte]('O', 'b', 'j', 1)
  private val SyncBytes = 16

  def isContainer(bytes: Array[Byte]): Boolean =
    bytes.length >= Magic.length && Magic.indices.forall(i => bytes(i) == Magic(i))

  /** The reader stands before the record. The container is checked up to the end of its block. */
  def open(bytes: Array[Byte]): AvroReader = {
    val in = new AvroReader(bytes, Magic.length, bytes.length, headerSchema)
    var schemaJson: String = null
    in.fields { key =>
      val value = in.string()
      if (key == "avro.schema") schemaJson = value
      else if (key == "avro.codec" && value != "null")
        throw new BadContent(s"Avro codec '$value', known is null alone")
    }
    if (schemaJson == null) throw new BadContent("no avro.schema in the container's header")
    val sync = in.advance(SyncBytes.toLong)
    val count = in.readLong()
    if (count != 1) throw new BadContent(s"$count records at offset ${in.position}, expected 1")
    val size = in.readLong()
    val from = in.position
    if (size < 0 || size > bytes.length - from)
      throw new BadContent(s"a block of $size bytes at offset $from passes the end of the file (${bytes.length})")
    in.advance(size)
    val closing = in.advance(SyncBytes.toLong)
    if (!(0 until SyncBytes).forall(i => bytes(sync + i) == bytes(closing + i)))
      throw new BadContent(s"the sync marker at offset $closing is not the header's")
    new AvroReader(bytes, from, from + size.toInt, parseSchema(schemaJson))
  }

  private val headerSchema = Schema.createMap(Schema.create(Schema.Type.BYTES))

  /** Writers' schemas come by the dozen, instants by the thousand. */
  private val schemas = new ConcurrentHashMap[String, Schema]
  private val MaxSchemas = 64

  def parseSchema(json: String): Schema = {
    val known = schemas.get(json)
    if (known != null) known
    else {
      val parsed =
        try AvroSchemas.parse(json)
        catch {
          case e: RuntimeException => throw new BadContent(s"not an Avro schema: ${e.getMessage}")
        }
      if (schemas.size >= MaxSchemas) schemas.clear()
      schemas.put(json, parsed)
      parsed
    }
  }
}
