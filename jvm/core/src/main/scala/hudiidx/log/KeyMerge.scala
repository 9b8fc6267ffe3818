package hudiidx.log

/** What a slice's log makes of a key. */
sealed abstract class KeyState extends Product with Serializable

object KeyState {

  /** The slice has a row of the key, whatever its base file holds. */
  case object Live extends KeyState

  /** The slice has no row of the key, whatever its base file holds. */
  case object Deleted extends KeyState

  /** The slice has a row of the key only if its base file holds one that is newer.
    *
    * @param order how that is told
    */
  final case class DeletedUnlessBaseIsNewer(ordering: OrderingValue, order: RecordOrder = RecordOrder.LastOfEqual)
      extends KeyState {

    /** True if a base row of this ordering value outlives the delete. */
    def spares(baseOrdering: OrderingValue): Boolean = KeyMerge.stays(baseOrdering, ordering, order)
  }
}

/** A key that a slice's log touches. The array is the caller's.
  *
  * @param keyUtf8      the record key
  * @param mayBeDeleted true if a payload class decides what the row becomes: the state is Live unless a delete block says
  *                     otherwise, and the payload may still have deleted it
  * @param commitTime   `_hoodie_commit_time` of the winning row; None for deletes and where the table keeps none
  */
final case class LoggedKey(keyUtf8: Array[Byte], state: KeyState, mayBeDeleted: Boolean, commitTime: Option[String])

/** One version of a key in the log.
  *
  * @param note what its reader wants to know it by: a number from 1 on for a record, `NoNote` for an entry of a delete block
  */
private[hudiidx] final case class KeyVersion(
    isDelete: Boolean,
    fromDeleteBlock: Boolean,
    ordering: OrderingValue,
    note: Int
)

private[hudiidx] object KeyVersion {
  val NoNote = 0
}

/** Merges versions of a key as stock Hudi does, as far as it matters for whether there is a row. Format notes §7.3 to §7.5.
  *
  * An unknown payload may make anything of two data records. Of their ordering values the greater is kept, so that a delete
  * with an ordering value rather leaves a key too many than drops one that is there.
  */
private[hudiidx] object KeyMerge {

  /** The version that stays of one in the log and one behind it. */
  def latest(older: KeyVersion, newer: KeyVersion, rules: LogRules): KeyVersion = {
    // 0.15 compares log records even under OverwriteWithLatestAvroPayload.
    val byOrdering = rules.asHudi015 || (rules.mode match {
      case MergeMode.CommitTime     => false
      case MergeMode.OrderedDeletes => older.isDelete || newer.isDelete
      case _                        => true
    })
    if (byOrdering && olderStays(older, newer, rules)) older else newer
  }

  private def olderStays(older: KeyVersion, newer: KeyVersion, rules: LogRules): Boolean =
    if (newer.isDelete && newer.ordering.isDefault && (newer.fromDeleteBlock || !rules.asHudi015)) false
    else if (older.isDelete && older.fromDeleteBlock && !newer.fromDeleteBlock && rules.asHudi015) false
    else if (older.isDelete && older.ordering.isDefault && !rules.asHudi015) false
    // 0.15 and 1.0 have the one as a text of Avro or Spark, the other as a String, and compare it with the base file's row alone.
    else if (newer.fromDeleteBlock && older.ordering.kind == OrderingKind.TextKind && !rules.format.comparesTexts) false
    else
      stays(
        older.ordering,
        newer.ordering,
        orderOf(older, newer, rules)
      ) && !(rules.mode == MergeMode.Custom && older.isDelete)

  /** Entries of delete blocks have no payload, and from version 8 on no delete has one. */
  private def orderOf(older: KeyVersion, newer: KeyVersion, rules: LogRules): RecordOrder =
    if (older.fromDeleteBlock || newer.fromDeleteBlock) RecordOrder.LastOfEqual
    else if (rules.asHudi015) if (rules.order == RecordOrder.Sequence) RecordOrder.LastOfEqual else rules.order
    else if (older.isDelete || newer.isDelete) RecordOrder.LastOfEqual
    else rules.order

  /** True if a version of this ordering value stays, whatever becomes of the newer one. */
  def stays(older: OrderingValue, newer: OrderingValue, order: RecordOrder): Boolean = order match {
    case RecordOrder.LastOfEqual  => older.isAbove(newer)
    case RecordOrder.FirstOfEqual =>
      older.kind != OrderingKind.Default && older.comparesWith(newer) && older.compare(newer) >= 0
    case RecordOrder.LastUnlessNumber =>
      older.kind.isNumber && older.kind != OrderingKind.DateKind && older.isAbove(newer)
    case RecordOrder.Sequence => EventSequence.olderStays(older, newer)
  }

  def state(last: KeyVersion, rules: LogRules): KeyState = {
    // 0.15 has payloads decide, and an entry of a delete block is an empty one, which deletes.
    val compared = rules.mode != MergeMode.CommitTime && !(rules.asHudi015 && last.fromDeleteBlock)
    if (!last.isDelete) KeyState.Live
    else if (compared && !last.ordering.isDefault)
      KeyState.DeletedUnlessBaseIsNewer(
        last.ordering,
        if (last.fromDeleteBlock) RecordOrder.LastOfEqual else rules.order
      )
    else KeyState.Deleted
  }

  /** True if the base file's row stays although the log holds `last` of its key. Not for custom merging. */
  def baseStays(last: KeyVersion, baseOrdering: OrderingValue, rules: LogRules): Boolean =
    state(last, rules) match {
      case unless: KeyState.DeletedUnlessBaseIsNewer => unless.spares(baseOrdering)
      case KeyState.Deleted                          => false
      case KeyState.Live                             =>
        rules.mode == MergeMode.EventTime && stays(baseOrdering, last.ordering, rules.order)
    }
}
