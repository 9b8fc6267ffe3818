package hudiidx.spark.tag

import hudiidx.Texts
import hudiidx.engine.Tables
import hudiidx.engine.record.{SliceKeyChunks, SliceKeyScan, SliceKeyTable}
import hudiidx.log.RecordKeyForm
import hudiidx.record.page.KeyCode
import hudiidx.record.{Locations, PackedKeys}
import hudiidx.spark.read.KeyColumnsOf
import hudiidx.spark.pinned.{LookupCounts, SharedRecords}
import hudiidx.spark.shims.Shims
import hudiidx.spark.SparkEngine
import hudiidx.spark.options.{TagChoice, TagSizes, TagStrategy}
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSet,
  BindReferences,
  Expression,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, UnknownPartitioning}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.{SQLExecution, SparkPlan, UnaryExecNode}

/** Looks up the record keys of rows in a record index, and in files where the index does not know them. */
final case class TagLocationExec(
    records: SharedRecords,
    choice: TagChoice,
    keys: Seq[Expression],
    forms: Vector[RecordKeyForm],
    partition: Option[Expression],
    tags: Seq[Attribute],
    child: SparkPlan
) extends UnaryExecNode {
  override def output: Seq[Attribute] = child.output ++ tags
  override def producedAttributes: AttributeSet = AttributeSet(tags)
  override protected def withNewChildInternal(newChild: SparkPlan): TagLocationExec = copy(child = newChild)

  override def outputPartitioning: Partitioning =
    if (choice.strategy == TagStrategy.Direct && choice.parts == Int.MaxValue) child.outputPartitioning
    else UnknownPartitioning(0)

  override lazy val metrics: Map[String, SQLMetric] =
    (TagLocationExec.Metrics ++ LookupCounts.Names).map { case (name, title) =>
      name -> SQLMetrics.createMetric(sparkContext, title)
    }.toMap

  override def simpleString(maxFields: Int): String =
    Texts.shown(s"TagLocation ${keys.mkString("[", ", ", "]")}, ${TagLocationExec.text(records, choice)}")

  override def verboseStringWithOperatorId(): String =
    s"$formattedNodeName\nKeys: ${Texts.shown(keys.mkString("[", ", ", "]"))}\n" +
      s"Lookup: ${Texts.shown(TagLocationExec.text(records, choice))}\n"

  override protected def doExecute(): RDD[InternalRow] = {
    metrics("scannedSlices").add(records.moment.slices.size.toLong)
    val executionId = sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)
    SQLMetrics.postDriverMetricUpdates(sparkContext, executionId, Seq(metrics("scannedSlices")))
    choice.strategy match {
      case TagStrategy.Driver  => onDriver(executionId)
      case TagStrategy.Shuffle =>
        TagTasks.byHash(shared, rowForm, tagMetrics, child.execute(), choice.parts, child.output)
      case _ => TagTasks.direct(shared, rowForm, tagMetrics, atMost(choice.parts, child.execute()))
    }
  }

  private def atMost(parts: Int, rows: RDD[InternalRow]): RDD[InternalRow] =
    if (rows.getNumPartitions <= parts) rows else rows.coalesce(parts)

  private def shared: Broadcast[SharedRecords] = sparkContext.broadcast(records)

  private def bound(e: Expression): Expression = BindReferences.bindReference(e, child.output)

  private def rowForm: RowForm =
    RowForm(
      KeyColumnsOf(keys.map(bound).toVector, forms),
      partition.map(bound),
      child.output.map(_.dataType).toArray,
      output
    )

  private def tagMetrics: TagMetrics =
    TagMetrics(
      RowCounts(metrics("keys"), metrics("hits"), metrics("misses")),
      LookupCounts.Names.map(n => metrics(n._1))
    )

  private def onDriver(executionId: String): RDD[InternalRow] = {
    val engine = new SparkEngine(sparkContext, records.table.conf)
    def locate(keys: PackedKeys): Locations =
      records.locate(keys, SliceKeyScan.locate(engine, records.moment, keys, _))
    val rows = child.executeCollect().iterator
    val found = new TaggedRows(rows, rowForm, locate, tagMetrics.rows, () => tagMetrics.take(records))
    val tagged = found.map(_.copy()).toArray
    SQLMetrics.postDriverMetricUpdates(sparkContext, executionId, metrics.values.toSeq)
    if (tagged.isEmpty) sparkContext.emptyRDD
    else sparkContext.parallelize(tagged.toSeq, math.min(tagged.length, sparkContext.defaultParallelism))
  }
}

object TagLocationExec {
  private val Metrics = Vector(
    "keys" -> "keys looked up",
    "hits" -> "keys found",
    "misses" -> "keys not found",
    "scannedSlices" -> "file slices read beside the index"
  )

  def sizes(records: SharedRecords, cores: Int): TagSizes = {
    val index = records.index.map(_.index)
    TagSizes(
      index.fold(1)(_.groups.size),
      index.fold(0L)(_.groups.map(_.sizeBytes).sum),
      records.moment.sliceBytes,
      cores,
      Tables.sharedCache.capacityBytes
    )
  }

  /** For the plan: what was chosen and why, and what is asked. */
  private def text(records: SharedRecords, choice: TagChoice): String = {
    val moment = records.moment
    val index = moment.version match {
      case Some(v) => s"index version ${v.number}, ${records.index.fold(0)(_.index.groups.size)} hash groups"
      case None    => s"no record index (${moment.fallback.fold("")(_.code)})"
    }
    s"hudiidx ${records.table.path}: ${choice.strategy} lookup (${choice.reason}), $index, " +
      s"${moment.slices.size} file slices read beside it" +
      moment.windowDays.fold("")(d => s", a window of $d days: without a location is not in the window")
  }
}

/** Metrics of a tagging, as tasks count them. */
final case class TagMetrics(rows: RowCounts, work: Vector[SQLMetric]) {

  /** Takes over what the process did since. */
  def take(records: SharedRecords): Unit =
    records.countsSince().values.zip(work).foreach { case (n, metric) => metric += n }
}

/** Keys of file slices that every task needs; each process makes its table once. */
final class SentSliceKeys(chunks: Array[Array[Byte]]) extends Serializable {
  @transient lazy val table: SliceKeyTable = new SliceKeyTable(chunks.iterator)
}

/** The work of tasks. Made here, so that tasks carry what they need and not the plan. */
private object TagTasks {
  private val HashMask = 0xffffffffL

  def direct(
      shared: Broadcast[SharedRecords],
      form: RowForm,
      metrics: TagMetrics,
      rows: RDD[InternalRow]
  ): RDD[InternalRow] = {
    val chunks =
      if (shared.value.moment.slices.isEmpty) Array.empty[Array[Byte]] else slices(shared, rows, 1).values.collect()
    val sent = rows.sparkContext.broadcast(new SentSliceKeys(chunks))
    rows.mapPartitions(tagged(shared, form, metrics, _, () => sent.value.table))
  }

  def byHash(
      shared: Broadcast[SharedRecords],
      form: RowForm,
      metrics: TagMetrics,
      rows: RDD[InternalRow],
      parts: Int,
      columns: Seq[Attribute]
  ): RDD[InternalRow] = {
    val routed = rows.mapPartitions(partsOf(form, _, parts))
    val shuffled = Shims.shuffled(routed, columns.size, parts)
    if (shared.value.moment.slices.isEmpty)
      shuffled.mapPartitions(tagged(shared, form, metrics, _, () => new SliceKeyTable(Iterator.empty)))
    else
      shuffled.zipPartitions(slices(shared, rows, parts).partitionBy(new Shims.GivenPart(parts))) { (mine, chunks) =>
        tagged(shared, form, metrics, mine, () => new SliceKeyTable(chunks.map(_._2)))
      }
  }

  /** Keys of the slices that the index does not know, in chunks by part of the hash space. */
  private def slices(shared: Broadcast[SharedRecords], rows: RDD[InternalRow], parts: Int): RDD[(Int, Array[Byte])] = {
    val context = rows.sparkContext
    val shares = SliceKeyChunks.shares(shared.value.moment, context.defaultParallelism)
    context.parallelize(shares, math.max(1, shares.size)).flatMap { inputs =>
      val records = shared.value
      inputs.iterator.flatMap(SliceKeyChunks.read(records.moment, records.access, _, parts))
    }
  }

  private def tagged(
      shared: Broadcast[SharedRecords],
      form: RowForm,
      metrics: TagMetrics,
      rows: Iterator[InternalRow],
      makeTable: () => SliceKeyTable
  ): Iterator[InternalRow] =
    if (rows.isEmpty) Iterator.empty
    else {
      val records = shared.value
      val table = makeTable()
      def locate(keys: PackedKeys): Locations =
        records.locate(keys, table.locate(keys, _, records.moment.sliceGroups))
      new TaggedRows(rows, form, locate, metrics.rows, () => metrics.take(records))
    }

  /** Rows with the part that they go to. A row without a key goes by its own bytes: always to the same part, and not all of
    * them to one.
    */
  private def partsOf(form: RowForm, rows: Iterator[InternalRow], parts: Int): Iterator[(Int, UnsafeRow)] = {
    // Rows that may have several keys are not sent by them: see TagSizes.
    val key = form.key.readers().head
    val keep = UnsafeProjection.create(form.input)
    rows.map { row =>
      val kept = row match {
        case u: UnsafeRow => u
        case other        => keep(other)
      }
      val hash = if (key.read(kept)) KeyCode.hash(key.bytes, 0, key.length) else kept.hashCode & HashMask
      (SliceKeyChunks.part(hash, parts), kept)
    }
  }
}
