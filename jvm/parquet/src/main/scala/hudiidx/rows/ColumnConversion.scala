package hudiidx.rows

import hudiidx.rows.ValueType._

/** [[Conversion]] of whole columns: parts of them are found and kept as they are, and values go through it one by one only where
  * their type has changed. What it gives may share arrays with what it got, so neither must grow any more.
  */
private[hudiidx] final class ColumnConversion(floatsByText: Boolean, where: String) {
  private val conversion = new Conversion(floatsByText, defaults = false, where)

  /** UnsupportedTable if no rule leads from the one type to the other.
    *
    * @param path the column, for messages
    */
  def of(from: ValueType, to: ValueType, path: String): ColumnValues => ColumnValues =
    step(from, to, path).getOrElse(identity[ColumnValues] _)

  /** None: columns stay as they are. */
  private def step(from: ValueType, to: ValueType, path: String): Option[ColumnValues => ColumnValues] =
    if (ValueType.same(from, to)) None
    else
      (from, to) match {
        case (own: Struct, wanted: Struct)    => Some(fields(own, wanted, path))
        case (Items(own), Items(wanted))      => items(step(own, wanted, path + ".element"))
        case (vector: Numbers, Items(wanted)) => items(step(elementOf(vector), wanted, path + ".element"))
        case (own: Entries, wanted: Entries)  => items(entries(own, wanted, path))
        case (Text | Binary, vector: Numbers) =>
          conversion.of(from, to, path)
          Some(v => NumberBytes.numbers(v.asInstanceOf[BytesValues], vector, s"$where, column $path"))
        case _ => conversion.step(from, to, path).map(each(to, _))
      }

  private def each(to: ValueType, convert: Any => Any): ColumnValues => ColumnValues = { values =>
    val made = ColumnValues.of(to, values.count)
    var i = 0
    while (i < values.count) {
      if (values.isNull(i)) made.addNull() else made.add(convert(values.value(i)))
      i += 1
    }
    made
  }

  private def items(convert: Option[ColumnValues => ColumnValues]): Option[ColumnValues => ColumnValues] =
    convert.map { c => values =>
      val lists = values.asInstanceOf[ListValues]
      lists.withItems(c(lists.items))
    }

  private def entries(own: Entries, wanted: Entries, path: String): Option[ColumnValues => ColumnValues] = {
    val key = step(own.key, wanted.key, path + ".key")
    val value = step(own.value, wanted.value, path + ".value")
    if (key.isEmpty && value.isEmpty) None
    else
      Some { values =>
        val pairs = values.asInstanceOf[StructValues]
        def part(at: Int, convert: Option[ColumnValues => ColumnValues]): ColumnValues =
          convert.fold(pairs.fields(at))(_(pairs.fields(at)))
        pairs.withFields(Array(part(0, key), part(1, value)))
      }
  }

  private def fields(own: Struct, wanted: Struct, path: String): ColumnValues => ColumnValues = {
    val places = conversion.placesOf(own, wanted, path)
    val convert = wanted.fields
      .zip(places)
      .map { case (f, at) =>
        if (at < 0) (structs: StructValues) => ColumnValues.nulls(f.valueType, structs.count)
        else {
          val part = of(own.fields(at).valueType, f.valueType, s"$path.${f.name}")
          (structs: StructValues) => part(structs.fields(at))
        }
      }
      .toArray
    values => {
      val structs = values.asInstanceOf[StructValues]
      structs.withFields(convert.map(_(structs)))
    }
  }
}
