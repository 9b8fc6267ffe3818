package hudiidx.timeline

import com.fasterxml.jackson.core.{JsonFactory, JsonFactoryBuilder, JsonParser, JsonToken}
import hudiidx.HashSpread

/** The content cannot be decoded; the message says why and where. Callers add the file's name. */
private[timeline] final class BadContent(message: String) extends Exception(message)

/** Walks a value of JSON or Avro from front to back, so that one decoder serves both forms of instant files. Each call
  *  consumes the next value; inside `fields` and `items` the callback must consume exactly one. A value that is null
  *  reads as no fields, no items, null, 0 or false. Throws BadContent if the value is of another kind.
  */
private[timeline] trait ValueReader {

  /** Fields of a record, or entries of a map. */
  def fields(onField: String => Unit): Unit

  /** The same for each name while few of them have one hash code: BadContent then. */
  protected final def ifEven(onField: String => Unit): String => Unit = {
    val spread = new HashSpread
    name => if (spread.takes(name)) onField(name) else throw new BadContent(HashSpread.Fault)
  }

  def items(onItem: () => Unit): Unit

  def string(): String

  def long(): Long

  def boolean(): Boolean

  def skip(): Unit

  /** After the root value: BadContent if anything follows. */
  def requireEnd(): Unit

  /** As `fields`, for a record that must have the field `required`: its absence means another record, or damage. */
  final def record(required: String)(onField: String => Unit): Unit = {
    var found = false
    fields { field =>
      if (field == required) found = true
      onField(field)
    }
    if (!found) throw new BadContent(s"the record has no field $required")
  }

  final def strings(): Vector[String] = {
    val all = Vector.newBuilder[String]
    items { () =>
      val s = string()
      if (s != null) all += s
    }
    all.result()
  }

  /** A map of paths to sizes, as one of names without folders. */
  final def fileSizes(): Map[String, Long] = {
    var all = Map.empty[String, Long]
    fields(path => all += TablePath.name(path) -> long())
    all
  }

  final def stringMap(): Map[String, String] = {
    val all = Map.newBuilder[String, String]
    fields { key =>
      val s = string()
      if (s != null) all += key -> s
    }
    all.result()
  }
}

/** Over a parser that stands before the value. IOExceptions of the parser mean a damaged file. */
private[timeline] final class JsonReader(parser: JsonParser) extends ValueReader {

  override def fields(onField: String => Unit): Unit = next() match {
    case JsonToken.VALUE_NULL   => ()
    case JsonToken.START_OBJECT =>
      val onEven = ifEven(onField)
      while (next() != JsonToken.END_OBJECT) onEven(parser.currentName)
    case other => wrong("an object", other)
  }

  override def items(onItem: () => Unit): Unit = next() match {
    case JsonToken.VALUE_NULL  => ()
    case JsonToken.START_ARRAY =>
      while (next() != JsonToken.END_ARRAY) {
        held = true
        onItem()
      }
    case other => wrong("an array", other)
  }

  override def string(): String = next() match {
    case JsonToken.VALUE_NULL         => null
    case token if token.isScalarValue => parser.getText
    case other                        => wrong("a string", other)
  }

  override def long(): Long = next() match {
    case JsonToken.VALUE_NULL       => 0L
    case JsonToken.VALUE_NUMBER_INT => parser.getLongValue
    case other                      => wrong("an integer", other)
  }

  override def boolean(): Boolean = next() match {
    case JsonToken.VALUE_NULL | JsonToken.VALUE_FALSE => false
    case JsonToken.VALUE_TRUE                         => true
    case other                                        => wrong("true or false", other)
  }

  override def skip(): Unit = {
    next()
    parser.skipChildren()
    // A cut file ends here without an exception of its own.
    if (parser.currentToken == null) cut()
  }

  override def requireEnd(): Unit =
    if (parser.nextToken() != null)
      throw new BadContent(s"something follows the JSON value at offset ${parser.currentTokenLocation.getByteOffset}")

  /** True when the token to hand out next was already fetched, to see whether an array goes on. */
  private var held = false

  private def next(): JsonToken = {
    val token = if (held) parser.currentToken else parser.nextToken()
    held = false
    if (token == null) cut()
    token
  }

  private def cut(): Nothing =
    throw new BadContent(s"the JSON ends too soon at offset ${parser.currentTokenLocation.getByteOffset}")

  private def wrong(expected: String, found: JsonToken): Nothing =
    throw new BadContent(s"$found where $expected was expected at offset ${parser.currentTokenLocation.getByteOffset}")
}

private[timeline] object JsonReader {
  // Names are compared once each, and keys of maps are many: interning them gains nothing.
  private val factory = new JsonFactoryBuilder().disable(JsonFactory.Feature.INTERN_FIELD_NAMES).build()

  def open(bytes: Array[Byte]): JsonReader = new JsonReader(factory.createParser(bytes))
}
