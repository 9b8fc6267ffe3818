package hudiidx.table

import java.io.IOException

import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import hudiidx.{AvroSchemas, DamagedTable, SchemaUnion}
import hudiidx.timeline.{Action, ActiveTimeline, Instant, InstantContents, WriteStat}
import org.apache.avro.{AvroRuntimeException, Schema}

/** @param hasHistory   the table keeps a history of its columns by id: see [[SchemaHistory]]
  * @param hasOperation rows bear the meta column [[TableSchema.Operation]]
  * @param file         where it stands, for messages: a commit, or the table's properties
  */
final case class LatestSchema(avroJson: String, hasHistory: Boolean, hasOperation: Boolean, file: String)

/** The schema of a table, from its commits. Format notes §3.1. */
object TableSchema {

  /** The meta columns, in their order at the front of every row. */
  val MetaColumns: Vector[String] = Vector(
    "_hoodie_commit_time",
    "_hoodie_commit_seqno",
    "_hoodie_record_key",
    "_hoodie_partition_path",
    "_hoodie_file_name"
  )

  /** A sixth, of tables that are written with `hoodie.allow.operation.metadata.field`: see [[OperationColumn]]. */
  val Operation = "_hoodie_operation"

  /** Hudi's own, not of the data. */
  def isMeta(column: String): Boolean = MetaColumns.contains(column) || column == Operation

  def value(schema: Schema): Schema = AvroSchemas.value(schema)

  /** No commit and no property tells the table's columns. */
  def unknown(config: TableConfig): DamagedTable = {
    val what =
      if (config.isRemade)
        "the commit that made the table anew was rolled back, and nothing else tells its columns; overwrite the whole of it with hudiidx.write.remake=true"
      else "neither a commit nor a property tells the table's columns; write to the table first"
    new DamagedTable(s"${config.file}: $what")
  }

  /** The schema of the table's rows: that of the latest completed write (by requested time, not after `asOf`) that
    *  wrote one, else as of before all of them that of the latest, else the table's create schema, as stock has it; with the
    *  meta columns in front unless the table has virtual keys. Writes that overlapped it in time did not see it, nor it them: it has
    *  their columns too. None: no commit says; a data file must. Reads commits from the newest back, normally one,
    *  and of one data file the columns. DamagedTable if a commit or its schema cannot be decoded.
    */
  def latest(
      timeline: ActiveTimeline,
      contents: InstantContents,
      config: TableConfig,
      asOf: Option[String],
      files: ColumnsOfFiles
  ): Option[LatestSchema] = {
    val schemas = new CommitSchemas(timeline, contents, config)
    def fromCommits(until: Option[String]) = schemas.latest(i => until.forall(i.requestedTime <= _))
    val found = fromCommits(asOf)
      .orElse(asOf.flatMap(_ => fromCommits(None)))
      .orElse(config.createSchema.map(Said(config.file, _, hasHistory = false, Vector.empty)))
    found.map { said =>
      val first = if (asOf.isEmpty) said.files else Vector.empty
      val hasOperation =
        config.populateMetaFields && new OperationColumn(timeline, contents, files).isThere(first)
      LatestSchema(
        withMetaColumns(said.json, config.populateMetaFields, said.source, hasOperation),
        said.hasHistory,
        hasOperation,
        said.source
      )
    }
  }

  /** DamagedTable for a text that is no schema.
    *
    * @param file where it stands
    */
  def parse(avroJson: String, file: String): Schema =
    try AvroSchemas.parse(avroJson)
    catch {
      case e: AvroRuntimeException =>
        throw new DamagedTable(
          s"$file: the table's Avro schema cannot be parsed (${e.getMessage}); write to the table again",
          e
        )
    }

  /** Puts the meta columns in front, once: delete_partition writes them into its schema itself. Without `populated` they
    *  are taken out.
    *  @param source file named in errors
    */
  def withMetaColumns(avroJson: String, populated: Boolean, source: String, hasOperation: Boolean = false): String = {
    val root =
      try mapper.readTree(avroJson)
      catch { case e: IOException => throw damaged(source, s"it is not JSON (${firstLine(e)})", e) }
    val fields = if (root == null) null else root.get("fields")
    if (fields == null || !fields.isArray || !root.isInstanceOf[ObjectNode])
      throw damaged(source, "it is not an Avro record", null)
    val all = mapper.createArrayNode()
    if (populated) MetaColumns.foreach(name => all.add(metaColumn(name)))
    if (hasOperation) all.add(metaColumn(Operation))
    copyDataColumns(fields, all)
    root.asInstanceOf[ObjectNode].set[JsonNode]("fields", all)
    mapper.writeValueAsString(root)
  }

  private def copyDataColumns(from: JsonNode, to: ArrayNode): Unit = {
    val it = from.elements()
    while (it.hasNext) {
      val field = it.next()
      if (!isMeta(field.path("name").asText)) to.add(field): Unit
    }
  }

  private def metaColumn(name: String): ObjectNode = {
    val column = mapper.createObjectNode()
    column.put("name", name)
    column.putArray("type").add("null").add("string")
    column.put("doc", "")
    column.putNull("default")
    column
  }

  private def firstLine(e: Exception): String = e.getMessage.takeWhile(_ != '\n')

  private def damaged(source: String, reason: String, cause: Throwable): DamagedTable =
    new DamagedTable(s"$source: the table's schema cannot be decoded: $reason; restore the file", cause)

  private val mapper = new ObjectMapper
}

/** A schema with the file it stands in.
  *
  * @param files some to which the same write gave rows
  */
private final case class Said(source: String, json: String, hasHistory: Boolean, files: Vector[WriteStat])

/** The schemas that a table's commits say they wrote by. */
private final class CommitSchemas(timeline: ActiveTimeline, contents: InstantContents, config: TableConfig) {

  /** That of the latest write of these, by requested time, which says one. */
  def latest(counts: Instant => Boolean): Option[Said] = {
    val writes = timeline.completedWrites.filter(counts)
    writes.reverseIterator.map(i => of(i).map(i -> _)).collectFirst { case Some((instant, said)) =>
      if (said.hasHistory) said else writes.filter(overlap(instant, _)).foldLeft(said)(withColumns)
    }
  }

  private def of(instant: Instant): Option[Said] = {
    val commit = contents.commitWithSample(instant)
    if (commit.operationType.exists(CommitSchemas.Rewriting)) None
    else
      commit.extraMetadata.get("schema").filter(_.trim.nonEmpty).map { json =>
        val hasHistory = commit.extraMetadata.get("latest_schema").exists(_.trim.nonEmpty)
        Said(s"${timeline.dir}/${instant.fileName}", json, hasHistory, commit.writeStats)
      }
  }

  /** Did neither see the other's commit? Unknown before version 8, where names tell no completion. */
  private def overlap(a: Instant, b: Instant): Boolean = a.requestedTime != b.requestedTime &&
    a.completionTime.exists(_ > b.requestedTime) && b.completionTime.exists(_ > a.requestedTime) && !isCompaction(b)

  private def isCompaction(instant: Instant): Boolean = config.isMergeOnRead && instant.action == Action.Commit

  /** Whoever rewrites files, as a compaction does, leaves out what the schema lacks. */
  private def withColumns(said: Said, other: Instant): Said = of(other).filter(_.json != said.json).fold(said) { more =>
    val own = TableSchema.parse(said.json, said.source)
    SchemaUnion.of(own, TableSchema.parse(more.json, more.source)) match {
      case both if both eq own => said
      case both                => said.copy(json = both.toString)
    }
  }
}

private object CommitSchemas {

  /** Operations that carry over the schema of the files they rewrite, which may be an old one. */
  val Rewriting: Set[String] = Set("COMPACT", "LOG_COMPACT", "CLUSTER", "INDEX")
}
