package hudiidx.spark.write.options

import java.util.Locale

import hudiidx.InvalidOption
import hudiidx.table.TableMergeRules

/** How records of one key are merged, by the options of a write. */
private[write] object AskedMergeMode {
  import WriteOptions.{MergeMode, OrderingField}

  private val EventTime = "EVENT_TIME_ORDERING"
  private val CommitTime = "COMMIT_TIME_ORDERING"
  private val PayloadClass = "hoodie.datasource.write.payload.class"
  val Package = "org.apache.hudi.common.model."

  /** Classes that mean one of the modes. */
  private val PayloadModes = Map(
    "DefaultHoodieRecordPayload" -> EventTime,
    "EventTimeAvroPayload" -> EventTime,
    "OverwriteWithLatestAvroPayload" -> CommitTime
  )

  /** Strategies that mean one of the modes. */
  private val StrategyModes = Map(
    TableMergeRules.EventTimeStrategy -> EventTime,
    TableMergeRules.CommitTimeStrategy -> CommitTime
  )

  val Payloads: Vector[String] = PayloadModes.keys.map(Package + _).toVector

  private val ModeNames = Vector(MergeMode, "hoodie.record.merge.mode")
  private val StrategyNames = Vector("hoodie.write.record.merge.strategy.id", "hoodie.record.merge.strategy.id")

  /** Options that say it. */
  val Names: Vector[String] = ModeNames ++ StrategyNames :+ PayloadClass

  def isEventTime(options: WriteOptions, isOrdered: Boolean): Boolean = of(options, isOrdered) match {
    case None                         => isOrdered
    case Some(CommitTime)             => false
    case Some(EventTime) if isOrdered => true
    case Some(EventTime)              => throw new InvalidOption(s"$MergeMode: $EventTime needs $OrderingField")
    case Some(other)                  =>
      throw new InvalidOption(s"$MergeMode: unsupported value '$other'; supported: $EventTime, $CommitTime")
  }

  /** The mode that is asked for: by its name, by a strategy's or a payload class. InvalidOption for other classes and strategies, and
    * where two are given that differ. The two latter, which are stock's defaults too, ask nothing of a table without ordering fields:
    * there the later write wins in any case.
    */
  def of(options: WriteOptions, isOrdered: Boolean): Option[String] = {
    val stated = options.text(ModeNames: _*).map(_.toUpperCase(Locale.ROOT))
    val meant = StrategyNames.flatMap(meaning(options, _, StrategyModes, stated)) ++
      meaning(options, PayloadClass, PayloadModes, stated)
    val modes = meant.map { case (_, mode) => mode }.distinct
    if (modes.size > 1)
      throw new InvalidOption(
        s"${meant.map { case (name, mode) => s"$name means $mode" }.mkString(", ")}; leave them out and set $MergeMode"
      )
    stated.orElse(modes.headOption.filter(mode => isOrdered || mode == CommitTime))
  }

  private def meaning(
      options: WriteOptions,
      name: String,
      modes: Map[String, String],
      stated: Option[String]
  ): Option[(String, String)] = options.text(name).map { value =>
    val mode = modes.get(value.stripPrefix(Package)).filter(m => stated.forall(_ == m)).getOrElse {
      val withMode = stated.fold("")(m => s" with $MergeMode=$m")
      throw new InvalidOption(
        s"$name: unsupported value '$value'$withMode; remove it and set $MergeMode, or write with stock Hudi"
      )
    }
    name -> mode
  }
}
