package hudiidx.log

/** What a value of a key field is, by whether all writers of Hudi make the same text of it.
  *
  * @param doubt why they do not, and what to do; None: they do
  */
sealed abstract class KeyValueKind(val doubt: Option[String]) extends Product with Serializable

object KeyValueKind {
  case object Text extends KeyValueKind(None)

  /** Whole numbers of up to 8 bytes. */
  case object Whole extends KeyValueKind(None)
  case object Truth extends KeyValueKind(None)

  /** Exact numbers with a scale. */
  case object Exact extends KeyValueKind(None)

  /** `2024-01-02` by Spark's writers, the days since 1970 by Flink's. */
  case object Date extends KeyValueKind(None)

  case object Floating
      extends KeyValueKind(
        doubtful(
          "a floating number",
          "differs by the Java release of the writer (8.41E21 is 8.409999999999999E21 before 19)"
        )
      )
  case object Instant
      extends KeyValueKind(
        doubtful(
          "a timestamp",
          "is a number of micro- or milliseconds by insert and upsert, `yyyy-mm-dd hh:mm:ss.f` in the writer's zone by bulk_insert's " +
            "row writer and where " + RecordKeyForm.ConsistentTimestamps + " is true"
        )
      )
  case object Binary
      extends KeyValueKind(
        doubtful(
          "binary values",
          "is hexadecimal by insert and upsert, and no text of the value by bulk_insert's row writer"
        )
      )

  /** Structs, arrays, maps and others. */
  case object Other extends KeyValueKind(doubtful("a nested value", "differs by the operation of the writer"))

  private def doubtful(what: String, why: String): Option[String] = Some(
    s"the text of $what in a record key $why; give record keys as texts, as they stand in _hoodie_record_key"
  )
}
