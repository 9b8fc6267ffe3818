package hudiidx.spark.tag

import hudiidx.{InvalidOption, Texts}
import hudiidx.log.{KeyValueKind, RecordKeyForm}
import hudiidx.spark.read.{KeyReader, RecordKeyFilter}
import hudiidx.spark.options.{RowsEstimate, TagStrategy}
import hudiidx.spark.pinned.SharedRecords
import hudiidx.spark.shims.Shims
import hudiidx.table.{KeyTexts, TableConfig}
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeReference,
  AttributeSet,
  Cast,
  Expression,
  NamedExpression
}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, UnaryNode}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.types.{DataType, StringType}
import org.apache.spark.sql.{DataFrame, SparkSession}

/** Rows of the child, each with the locations of its record key: one row for each location, one with nulls if there is none.
  *
  *  @param keys      columns that the key is made from
  *  @param forms     how, see [[hudiidx.spark.read.KeyColumnsOf]]
  *  @param partition only locations in this partition path count
  *  @param tags      partition path, file id, instant time
  *  @param wanted    the strategy to take, or `auto`
  */
final case class TagLocation(
    records: SharedRecords,
    keys: Seq[Expression],
    forms: Vector[RecordKeyForm],
    partition: Option[Expression],
    tags: Seq[Attribute],
    wanted: String,
    child: LogicalPlan
) extends UnaryNode {
  override def output: Seq[Attribute] = child.output ++ tags
  override def producedAttributes: AttributeSet = AttributeSet(tags)
  override protected def withNewChildInternal(newChild: LogicalPlan): TagLocation = copy(child = newChild)

  // The arguments would be the whole index version.
  override def simpleString(maxFields: Int): String =
    Texts.shown(s"TagLocation ${keys.mkString("[", ", ", "]")}")
}

object TagLocation {
  val Columns: Vector[String] = Vector("partition_path", "file_id", "instant_time")

  /** The DataFrame with the three columns behind its own.
    *
    *  @param keys      one column, or one for each key field of the table
    *  @param isText    the one column is the record key as Hudi writes it if it is a text
    *  @param partition column of partition paths; null: locations in any partition count
    *  @param wanted    see [[TagStrategy]]
    */
  def tag(
      frame: DataFrame,
      records: SharedRecords,
      keys: Vector[String],
      isText: Boolean,
      partition: Option[String],
      wanted: String
  ): DataFrame = {
    val spark = frame.sparkSession
    TagPlanner.register(spark)
    val caseSensitive = spark.sessionState.conf.caseSensitiveAnalysis
    Columns.filter(c => frame.columns.exists(f => if (caseSensitive) f == c else f.equalsIgnoreCase(c))).foreach { c =>
      throw new InvalidOption(s"the DataFrame has a column $c already; rename or drop it before tagging")
    }
    val table = new KeyFields(records.moment.config)
    val (ordered, forms) = table.resolve(keys, isText, name => column(frame, name).dataType)
    val tags = Columns.map(c => AttributeReference(c, StringType, nullable = true)())
    val partitionText = partition.map(p => text(column(frame, p)))
    val child = frame.queryExecution.analyzed
    val node =
      TagLocation(
        records,
        ordered.map(column(frame, _)),
        forms,
        partitionText,
        tags,
        TagStrategy.checked(wanted),
        child
      )
    // Named anew, so that a join of the result with itself can tell the columns apart.
    val named: Seq[NamedExpression] = child.output ++ tags.map(t => Alias(t, t.name)())
    Shims.frame(spark, Project(named, node))
  }

  private def column(frame: DataFrame, name: String): Expression = Shims.expression(frame, name) match {
    case Alias(inner, _) => inner
    case other           => other
  }

  private def text(path: Expression): Expression = if (path.dataType == StringType) path else Cast(path, StringType)
}

/** Finds out how a table's record keys are made from columns. */
final private class KeyFields(config: TableConfig) {

  /** The columns in the order of the table's key fields, and how to put them together (see [[hudiidx.spark.read.KeyColumnsOf]]); InvalidOption
    * if they do not fit, or no key follows from their values.
    */
  def resolve(
      keys: Vector[String],
      isText: Boolean,
      typeOf: String => DataType
  ): (Vector[String], Vector[RecordKeyForm]) = {
    if (keys.isEmpty) throw new InvalidOption("key: name a column, or one for each key field of the table")
    keys.find(k => KeyReader.kindOf(typeOf(k)) == KeyValueKind.Other).foreach { k =>
      throw new InvalidOption(
        s"key: column $k is of type ${typeOf(k).simpleString}, from which Hudi makes no record keys"
      )
    }
    // A column of the key field's own name has its values, whatever the record keys are made of them.
    val isField = keys == config.recordKeyFields && keys.head != RecordKeyFilter.KeyColumn
    val whole = isText && keys.size == 1 && typeOf(keys.head) == StringType && !isField
    if (whole) (keys, Vector.empty)
    else {
      val texts = KeyTexts.of(config).fold(why => refuse(keys, why), identity)
      if (texts.fields.size != keys.size)
        throw new InvalidOption(
          s"key: ${keys.mkString(", ")} for the table's key fields ${texts.fields.mkString(", ")}; name a column for each, " +
            "or one column with record keys as Hudi writes them"
        )
      val inOrder = ordered(keys, texts.fields)
      val forms = texts.of(inOrder.map(k => k -> KeyReader.kindOf(typeOf(k)))).fold(refuse(keys, _), identity)
      (inOrder, if (texts.isPlain && typeOf(inOrder.head) == StringType) Vector.empty else forms)
    }
  }

  private def refuse(keys: Vector[String], why: String): Nothing = throw new InvalidOption(
    s"key: no record keys can be made of ${keys.mkString(", ")}: $why; name a text column with record keys as they stand in " +
      s"_hoodie_record_key${if (keys == config.recordKeyFields) s", that is not named ${keys.head}" else ""}"
  )

  /** By name where the columns bear the names of the fields, else as they stand. */
  private def ordered(keys: Vector[String], fields: Vector[String]): Vector[String] =
    if (keys.toSet == fields.toSet) fields else keys
}

/** Gives [[TagLocation]] its physical plan. */
object TagPlanner extends SparkStrategy {

  /** Once for a session. */
  def register(spark: SparkSession): Unit = synchronized {
    if (!spark.experimental.extraStrategies.contains(this))
      spark.experimental.extraStrategies = spark.experimental.extraStrategies :+ this
  }

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case t: TagLocation =>
      val sizes = TagLocationExec.sizes(t.records, SparkSession.active.sparkContext.defaultParallelism)
      val choice = sizes.choose(t.wanted, RowsEstimate.of(t.child), t.forms.size > 1)
      TagLocationExec(t.records, choice, t.keys, t.forms, t.partition, t.tags, planLater(t.child)) :: Nil
    case _ => Nil
  }
}
