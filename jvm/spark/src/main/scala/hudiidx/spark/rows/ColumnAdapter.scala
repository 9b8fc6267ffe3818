package hudiidx.spark.rows

import hudiidx.{PlainType, Widening}
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarArray, ColumnarMap}
import org.apache.spark.unsafe.types.UTF8String

/** Brings a file's columns to the table's types. Spark's vectorised Parquet reader fills in columns that a file lacks, but
  * it neither widens numbers nor keeps a struct whose requested fields are all missing from the file; so such columns are
  * read with the file's own types and seen through vectors that convert.
  */
object ColumnAdapter {

  /** The type to ask of the file: `table` itself where Spark's reader can do it, else the file's own.
    * Fields are matched by name; `sameName` decides what that means.
    */
  def readType(table: DataType, file: DataType, sameName: (String, String) => Boolean): DataType = (table, file) match {
    case (t: StructType, f: StructType) =>
      val found = t.fields.flatMap { want =>
        f.fields.find(have => sameName(want.name, have.name)).map { have =>
          StructField(want.name, readType(want.dataType, have.dataType, sameName), nullable = true)
        }
      }
      // At least one column must be read to know which structs are null.
      if (found.isEmpty) StructType(f.fields.take(1)) else StructType(found)
    case (t: ArrayType, f: ArrayType) => ArrayType(readType(t.elementType, f.elementType, sameName), t.containsNull)
    case (t: MapType, f: MapType)     =>
      val key = readType(t.keyType, f.keyType, sameName)
      MapType(key, readType(t.valueType, f.valueType, sameName), t.valueContainsNull)
    case _ => if (widens(file, table) || CastVector.has(file, table)) file else table
  }

  /** True if values of type `from` become those of `to` by a rule of Hudi's, in logs too. */
  private[rows] def widens(from: DataType, to: DataType): Boolean = (from, to) match {
    case (BinaryType, ArrayType(element, _))             => VectorBytes.has(element)
    case (f: StructType, t) if VariantShims.isVariant(t) => VariantFields.areIn(f)
    case _                                               => isPossible(from, to) || isParsed(from, to)
  }

  /** Types whose values are the same in a vector. */
  private[rows] def sameBits(a: DataType, b: DataType): Boolean =
    plainOf(a).exists(p => plainOf(b).exists(Widening.isSame(p, _)))

  private[spark] def plainOf(dataType: DataType): Option[PlainType] = dataType match {
    case BooleanType                      => Some(PlainType.Bool)
    case IntegerType                      => Some(PlainType.Int32)
    case LongType                         => Some(PlainType.Int64)
    case FloatType                        => Some(PlainType.Float32)
    case DoubleType                       => Some(PlainType.Float64)
    case DateType                         => Some(PlainType.Date)
    case TimestampType | TimestampNTZType => Some(PlainType.Timestamp)
    case StringType                       => Some(PlainType.Text)
    case BinaryType                       => Some(PlainType.Binary)
    case d: DecimalType                   => Some(PlainType.Decimal(d.precision, d.scale))
    case _                                => None
  }

  /** Equal but for what may be null. */
  def sameShape(a: DataType, b: DataType): Boolean = (a, b) match {
    case (x: StructType, y: StructType) =>
      x.length == y.length && x.fields.zip(y.fields).forall { case (p, q) =>
        p.name == q.name && sameShape(p.dataType, q.dataType)
      }
    case (x: ArrayType, y: ArrayType) => sameShape(x.elementType, y.elementType)
    case (x: MapType, y: MapType)     => sameShape(x.keyType, y.keyType) && sameShape(x.valueType, y.valueType)
    case _                            => a == b
  }

  /** `vector` of type `from` seen as type `to`; the vector itself if there is nothing to convert.
    *
    *  @param floatsByText a float becomes the double of its shortest text (170.06f is 170.06), not of its bits
    */
  def adapt(vector: ColumnVector, from: DataType, to: DataType, floatsByText: Boolean): ColumnVector =
    if (sameShape(from, to)) vector
    else
      (from, to) match {
        case (f: StructType, t: StructType) =>
          val children = t.fields.map { want =>
            val at = f.fields.indexWhere(_.name == want.name)
            if (at < 0 || !canAdapt(f(at).dataType, want.dataType)) new NullVector(want.dataType)
            else adapt(vector.getChild(at), f(at).dataType, want.dataType, floatsByText)
          }
          new AdaptedVector(t, vector, children, f, floatsByText)
        case (f: ArrayType, t: ArrayType) =>
          val elements = adapt(vector.getChild(0), f.elementType, t.elementType, floatsByText)
          new AdaptedVector(t, vector, Array(elements), f, floatsByText)
        case (f: MapType, t: MapType) =>
          val keys = adapt(vector.getChild(0), f.keyType, t.keyType, floatsByText)
          val values = adapt(vector.getChild(1), f.valueType, t.valueType, floatsByText)
          new AdaptedVector(t, vector, Array(keys, values), f, floatsByText)
        case (f: StructType, t) if VariantShims.isVariant(t) =>
          new AdaptedVector(t, vector, VariantFields.places(f).map(i => vector.getChild(i)), f, floatsByText)
        case _ if from == BinaryType || isPossible(from, to) =>
          new AdaptedVector(to, vector, Array.empty, from, floatsByText)
        case _ => new CastVector(to, vector, from)
      }

  private def isPossible(from: DataType, to: DataType): Boolean =
    plainOf(from).exists(f => plainOf(to).exists(Widening.isPossible(f, _)))

  private def isParsed(from: DataType, to: DataType): Boolean =
    plainOf(from).exists(f => plainOf(to).exists(Widening.isParsed(f, _)))

  def nulls(dataType: DataType): ColumnVector = new NullVector(dataType)

  /** The stand-in field that only tells which structs are null may be of any type. */
  private def canAdapt(from: DataType, to: DataType): Boolean = (from, to) match {
    case (_: StructType, _: StructType) | (_: ArrayType, _: ArrayType) | (_: MapType, _: MapType) => true
    case _ => sameShape(from, to) || widens(from, to) || CastVector.has(from, to)
  }
}

/** `base`, of type `from`, seen as type `to`. Does not own `base`: closing is its reader's business. */
final private class AdaptedVector(
    to: DataType,
    base: ColumnVector,
    children: Array[ColumnVector],
    from: DataType,
    floatsByText: Boolean
) extends ColumnVector(to) {

  override def close(): Unit = ()
  override def hasNull: Boolean = base.hasNull
  override def numNulls: Int = base.numNulls
  override def isNullAt(row: Int): Boolean = base.isNullAt(row)

  override def getLong(row: Int): Long = base.getInt(row).toLong

  override def getFloat(row: Int): Float = from match {
    case IntegerType => base.getInt(row).toFloat
    case _           => base.getLong(row).toFloat
  }

  override def getDouble(row: Int): Double = from match {
    case IntegerType => base.getInt(row).toDouble
    case LongType    => base.getLong(row).toDouble
    case _           => Widening.float64(base.getFloat(row), floatsByText)
  }

  override def getUTF8String(row: Int): UTF8String =
    if (base.isNullAt(row)) null else UTF8String.fromString(text(row))

  private def text(row: Int): String = from match {
    case IntegerType    => base.getInt(row).toString
    case LongType       => base.getLong(row).toString
    case FloatType      => base.getFloat(row).toString
    case DateType       => Widening.dateText(base.getInt(row))
    case d: DecimalType => base.getDecimal(row, d.precision, d.scale).toJavaBigDecimal.toString
    case _              => base.getDouble(row).toString
  }

  override def getDecimal(row: Int, precision: Int, scale: Int): Decimal = from match {
    case _ if base.isNullAt(row) => null
    case d: DecimalType          =>
      Decimal(base.getDecimal(row, d.precision, d.scale).toBigDecimal, precision, scale)
    case _ => decimalOfText(text(row), precision, scale)
  }

  private def decimalOfText(text: String, precision: Int, scale: Int): Decimal =
    Decimal(Widening.decimal(text, precision, scale, "a column"), precision, scale)

  override def getChild(ordinal: Int): ColumnVector = children(ordinal)

  override def getArray(row: Int): ColumnarArray =
    if (base.isNullAt(row)) null
    else
      (from, to) match {
        case (BinaryType, vector: ArrayType) => VectorBytes.array(base.getBinary(row), vector.elementType)
        case _ => new ColumnarArray(children(0), RowShims.offsetAt(base, row), RowShims.lengthAt(base, row))
      }

  override def getMap(row: Int): ColumnarMap =
    if (base.isNullAt(row)) null
    else new ColumnarMap(children(0), children(1), RowShims.offsetAt(base, row), RowShims.lengthAt(base, row))

  override def getBoolean(row: Int): Boolean = refuse()
  override def getByte(row: Int): Byte = refuse()
  override def getShort(row: Int): Short = refuse()
  override def getInt(row: Int): Int = refuse()
  override def getBinary(row: Int): Array[Byte] = refuse()

  private def refuse() = throw new UnsupportedOperationException(
    s"a column of type ${to.simpleString} has no such value"
  )
}

/** A column of nulls. */
final private class NullVector(dataType: DataType) extends ColumnVector(dataType) {
  override def close(): Unit = ()
  override def hasNull: Boolean = true
  override def numNulls: Int = Int.MaxValue
  override def isNullAt(row: Int): Boolean = true
  override def getBoolean(row: Int): Boolean = false
  override def getByte(row: Int): Byte = 0
  override def getShort(row: Int): Short = 0
  override def getInt(row: Int): Int = 0
  override def getLong(row: Int): Long = 0
  override def getFloat(row: Int): Float = 0
  override def getDouble(row: Int): Double = 0
  override def getArray(row: Int): ColumnarArray = null
  override def getMap(row: Int): ColumnarMap = null
  override def getDecimal(row: Int, precision: Int, scale: Int): Decimal = null
  override def getUTF8String(row: Int): UTF8String = null
  override def getBinary(row: Int): Array[Byte] = null
  override def getChild(ordinal: Int): ColumnVector = dataType match {
    case s: StructType => new NullVector(s(ordinal).dataType)
    case _             => throw new UnsupportedOperationException(s"${dataType.simpleString} has no fields")
  }
}
