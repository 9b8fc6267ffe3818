package hudiidx.table

/** The key field of a table whose record keys are its values. */
object KeyField {

  /** None where keys are made of several fields, or may bear the field's name: generators of composite keys put it in front of a
    * single one or not, by release.
    */
  def of(config: TableConfig): Option[String] = {
    val generator = config.keyGenerator.getOrElse("").toUpperCase
    config.recordKeyForm.collect {
      case form
          if form.fields.length == 1 && !form.named && !generator
            .contains("COMPLEX") && !generator.contains("CUSTOM") =>
        form.fields.head
    }
  }
}
