package hudiidx.answer

import java.io.StringWriter
import java.lang.reflect.Modifier

import scala.collection.concurrent.TrieMap
import scala.collection.immutable.ListMap

import com.fasterxml.jackson.core.{JsonFactory, JsonGenerator}

/** A field that is left out where there is none; an Option would be null. */
final case class Part[+A](value: Option[A])

/** Answers as JSON, the one form that commands, Python and SQL give. A case class is an object of its fields in snake case, in their
  * order; a Map is an object by sorted names, a ListMap in its own order; None is null; what can be iterated over is an array.
  */
object JsonEncoder {
  private val factory = new JsonFactory

  def text(value: Any): String = {
    val out = new StringWriter
    val json = factory.createGenerator(out)
    write(value, json)
    json.close()
    out.toString
  }

  def write(value: Any, json: JsonGenerator): Unit = value match {
    case null | None      => json.writeNull()
    case Some(found)      => write(found, json)
    case text: String     => json.writeString(text)
    case yes: Boolean     => json.writeBoolean(yes)
    case n: Int           => json.writeNumber(n)
    case n: Long          => json.writeNumber(n)
    case x: Double        => json.writeNumber(x)
    case m: Map[_, _]     => writeMap(m, json)
    case all: Iterable[_] => writeAll(all.iterator, json)
    case all: Iterator[_] => writeAll(all, json)
    case answer: Product  =>
      json.writeStartObject()
      writeFields(answer, json)
      json.writeEndObject()
    case other => throw new IllegalArgumentException(s"no JSON form for ${other.getClass.getName}")
  }

  /** One after the other, so that no more than one is held. */
  def writeAll(all: Iterator[Any], json: JsonGenerator): Unit = {
    json.writeStartArray()
    all.foreach(write(_, json))
    json.writeEndArray()
  }

  /** Fields of an answer, behind those of the object that is being written. */
  def writeFields(answer: Product, json: JsonGenerator): Unit = {
    val names = namesOf(answer)
    names.indices.foreach { i =>
      answer.productElement(i) match {
        case Part(None)        => ()
        case Part(Some(value)) => writeField(names(i), value, json)
        case value             => writeField(names(i), value, json)
      }
    }
  }

  private def writeField(name: String, value: Any, json: JsonGenerator): Unit = {
    json.writeFieldName(name)
    write(value, json)
  }

  private def writeMap(map: Map[_, _], json: JsonGenerator): Unit = {
    val all = map.toVector.map { case (name, value) => name.toString -> value }
    json.writeStartObject()
    (if (map.isInstanceOf[ListMap[_, _]]) all else all.sortBy(_._1)).foreach { case (name, value) =>
      writeField(name, value, json)
    }
    json.writeEndObject()
  }

  private val names = TrieMap.empty[Class[_], Vector[String]]

  private def namesOf(answer: Product): Vector[String] = names.getOrElseUpdate(
    answer.getClass, {
      val fields = answer.getClass.getDeclaredFields.toVector
        .filterNot(f => f.isSynthetic || Modifier.isStatic(f.getModifiers))
        .map(_.getName)
      // Other fields would stand among those of the constructor.
      require(fields.size == answer.productArity, s"${answer.getClass.getName} is more than its fields")
      fields.map(snakeCase)
    }
  )

  private def snakeCase(name: String): String = name.flatMap(c => if (c.isUpper) s"_${c.toLower}" else c.toString)
}
