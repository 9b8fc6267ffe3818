package hudiidx.spark.write

import hudiidx.spark.shims.Shims
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, OverwritePartitionsDynamic, WriteDelta}
import org.apache.spark.sql.catalyst.util.WriteDeltaProjections
import org.apache.spark.sql.connector.write.RowLevelOperation.Command
import org.apache.spark.sql.execution.datasources.v2.{LeafV2CommandExec, V2CommandExec}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy, UnaryExecNode}
import org.apache.spark.sql.functions.{col, lit}
import org.apache.spark.sql.types.{StringType, StructField, StructType}
import org.apache.spark.sql.{Column, DataFrame, SparkSession}

/** Gives the rows of `DELETE`, `UPDATE`, `MERGE` and dynamic overwrites to the writer on the driver, which plans file groups before it
  * writes: Spark itself would hand them to tasks at once.
  */
private[write] object RowLevelPlanner extends SparkStrategy {

  /** Once for a session. */
  def register(spark: SparkSession): Unit = synchronized {
    if (!spark.experimental.extraStrategies.contains(this))
      spark.experimental.extraStrategies = spark.experimental.extraStrategies :+ this
  }

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case delta: WriteDelta =>
      delta.write match {
        case Some(write: ChangeWrite) => RowLevelExec(write, delta.projections, planLater(delta.query)) :: Nil
        case _                        => Nil
      }
    case o: OverwritePartitionsDynamic =>
      o.write match {
        case Some(write: InsertWrite) => DynamicOverwriteExec(write, o.query) :: Nil
        case _                        => Nil
      }
    case _ => Nil
  }
}

final private[write] case class DynamicOverwriteExec(write: InsertWrite, rows: LogicalPlan) extends LeafV2CommandExec {
  override def output: Seq[Attribute] = Nil

  override protected def run(): Seq[InternalRow] = {
    write.write(Shims.frame(session, rows))
    Nil
  }
}

final private[write] case class RowLevelExec(write: ChangeWrite, places: WriteDeltaProjections, child: SparkPlan)
    extends V2CommandExec
    with UnaryExecNode {
  override def output: Seq[Attribute] = Nil

  override def simpleString(maxFields: Int): String = s"RowLevelExec ${write.description()}"

  override protected def run(): Seq[InternalRow] = {
    val columns = StructType(child.output.zipWithIndex.map { case (a, i) => StructField(s"c$i", a.dataType) })
    write.run(RowChanges(named(Shims.rddFrame(session, columns, child.execute())), write.command == Command.MERGE))
    Nil
  }

  private def named(rows: DataFrame): DataFrame = {
    val key = places.rowIdProjection.colOrdinals
    val file = places.metadataProjection.get.colOrdinals.head
    val given = places.rowProjection.map(_.colOrdinals)
    val row = write.columns.zipWithIndex.map { case (f, i) =>
      given.fold(lit(null).cast(f.dataType))(p => at(p(i))).as(f.name)
    }
    rows.select(
      Seq(
        at(0).as(RowChanges.Operation),
        at(key(0)).as(RowChanges.OldKey),
        at(key(1)).as(RowChanges.OldPartition),
        at(file).cast(StringType).as(RowChanges.OldFile)
      ) ++ row: _*
    )
  }

  private def at(ordinal: Int): Column = col(s"c$ordinal")

  override protected def withNewChildInternal(newChild: SparkPlan): RowLevelExec = copy(child = newChild)
}
