package hudiidx.table

import hudiidx.log.{KeyValueKind, RecordKeyForm}

/** The record keys that a table's rows may have by the values of its key fields. One place for filters, joins, lookups, tags
  * and writes: what is not known here is no key.
  *
  * @param forms each that a writer may have used, that of the table's version first
  */
final case class KeyTexts private (forms: Vector[RecordKeyForm]) {

  def fields: Vector[String] = forms.head.fields

  /** The record keys of rows with one of these values, as texts, in the one key field. */
  def ofSingle(values: Set[String]): Set[String] = forms.toSet.flatMap((f: RecordKeyForm) => values.map(f.single))

  /** True if the record key is the one field's text, and nothing else. */
  def isPlain: Boolean = forms.length == 1 && fields.length == 1 && !forms.head.named

  /** The forms for fields of these kinds; Left tells why no key can be told from their values. */
  def of(kinds: Seq[(String, KeyValueKind)]): Either[String, Vector[RecordKeyForm]] =
    kinds.collectFirst { case (field, kind) if kind.doubt.isDefined => s"column $field: ${kind.doubt.get}" } match {
      case Some(why)                                       => Left(why)
      case None if kinds.exists(_._2 == KeyValueKind.Date) => Right(forms ++ forms.map(_.copy(numberedDays = true)))
      case None                                            => Right(forms)
    }
}

object KeyTexts {

  /** Left tells why record keys do not follow from values. */
  def of(config: TableConfig): Either[String, KeyTexts] =
    if (config.recordKeyFields.isEmpty)
      Left("the table names no key fields (hoodie.table.recordkey.fields)")
    else
      config.keyGenerator match {
        case None =>
          Left(
            "the table names no key generator (hoodie.table.keygenerator.class or .type), so that its keys are not known"
          )
        case Some(name) =>
          KeyGenerator.named(name) match {
            case None    => Left(s"the table's keys are made by $name, which is not one of those whose keys are known")
            case Some(g) => Right(new KeyTexts(forms(g, config)))
          }
      }

  private def forms(generator: KeyGenerator, config: TableConfig): Vector[RecordKeyForm] = {
    val first = RecordKeyForm.of(generator.mayName, config.recordKeyFields, config.format, config.properties)
    // Virtual keys are not stored: they are what is made of them, by this version's rule.
    if (generator.mayName && first.fields.length == 1 && config.populateMetaFields)
      Vector(first, first.copy(named = !first.named))
    else Vector(first)
  }
}
