package hudiidx.log

import hudiidx.TableFormat

/** How versions of a record are merged. Format notes §7.2. */
sealed abstract class MergeMode extends Product with Serializable

object MergeMode {

  /** The later in log order wins, and the log over the base file. */
  case object CommitTime extends MergeMode

  /** The greater ordering value wins, the later of equal ones. */
  case object EventTime extends MergeMode

  /** Of records the later wins, as in CommitTime; a delete is compared with a record as in EventTime. So Hudi 1.0 merges by
    * payload classes that know no order.
    */
  case object OrderedDeletes extends MergeMode

  /** A payload class or merger of which hudiidx knows nothing: a row of the log may turn out to be a delete. */
  case object Custom extends MergeMode
}

/** How payload code of before version 9 holds the ordering values of two records against each other. Format notes §7.6. */
sealed abstract class RecordOrder extends Product with Serializable

object RecordOrder {

  /** Of equal ones the newer wins. */
  case object LastOfEqual extends RecordOrder

  /** Of equal ones the older stays. */
  case object FirstOfEqual extends RecordOrder

  /** Of equal ones the newer wins, and of such as Hudi 1.0 has in two Java classes (all but numbers and timestamps) too. */
  case object LastUnlessNumber extends RecordOrder

  /** Values are MySQL's sequences (see [[EventSequence]]), of equal ones the older stays; within the log of version 6 they are
    * texts, of equal ones the newer wins.
    */
  case object Sequence extends RecordOrder
}

/** A record whose column `field` equals `value` is a delete. */
final case class DeleteMarker(field: String, value: String)

/** What a table's properties say about reading its log. Made of them by `TableMergeRules`.
  *
  * @param format         the table's, or a later one where 1.1's rules are asked for
  * @param orderingFields columns that make the ordering value; none: every record has the default one
  * @param deleteMarker   beside `_hoodie_is_deleted` and `_hoodie_operation`, which every table may have
  * @param keyForm        of a table with virtual keys; None: the key is in `_hoodie_record_key`
  * @param order          of two records; deletes of delete blocks are compared as in LastOfEqual
  */
final case class LogRules(
    format: TableFormat,
    mode: MergeMode,
    orderingFields: Vector[String],
    deleteMarker: Option[DeleteMarker],
    keyForm: Option[RecordKeyForm],
    order: RecordOrder = RecordOrder.LastOfEqual
) {
  private[hudiidx] val asHudi015: Boolean = format.mergesAsHudi015

  /** The base file's ordering values may decide. */
  private[hudiidx] val comparesBase: Boolean = mode == MergeMode.EventTime || mode == MergeMode.OrderedDeletes
}

/** The columns that keys and their states need, and their places in the list handed to a reader. */
private[hudiidx] final class LogColumns(rules: LogRules) {
  private val keys = rules.keyForm.map(_.fields).getOrElse(Vector(LogColumns.RecordKey))

  val names: Vector[String] =
    (Vector(LogColumns.CommitTime, LogColumns.IsDeleted, LogColumns.Operation) ++
      keys ++ rules.orderingFields ++ rules.deleteMarker.map(_.field)).distinct

  private val at = names.zipWithIndex.toMap

  val commitTime: Int = at(LogColumns.CommitTime)
  val isDeleted: Int = at(LogColumns.IsDeleted)
  val operation: Int = at(LogColumns.Operation)
  val marker: Int = rules.deleteMarker.fold(-1)(m => at(m.field))
  val key: Array[Int] = keys.map(at).toArray
  val ordering: Array[Int] = rules.orderingFields.map(at).toArray
}

private[hudiidx] object LogColumns {
  val CommitTime = "_hoodie_commit_time"
  val RecordKey = "_hoodie_record_key"
  val IsDeleted = "_hoodie_is_deleted"
  val Operation = "_hoodie_operation"

  /** Values of `_hoodie_operation` that make a row a delete. */
  val DeleteOperations: Vector[Array[Byte]] = Vector("D".getBytes, "-U".getBytes)
}
