package hudiidx.spark

import hudiidx.Fixtures
import hudiidx.spark.views.NamedTable
import org.apache.spark.sql.SparkSession

/** What SQL asks of a table of a path, or does to it, in a session with the extension and the catalogs. */
object EveryStatement {

  /** Made once: names of procedures and of functions are those of this session. */
  lazy val session: SparkSession = {
    val before = SparkSuite.session
    before.range(1).count()
    SparkSession.clearActiveSession()
    SparkSession.clearDefaultSession()
    val catalog = classOf[HudiIdxCatalog].getName
    val made = SparkSession
      .builder()
      .withExtensions(new HudiIdxExtensions)
      .config("spark.sql.extensions", classOf[HudiIdxExtensions].getName)
      .config("spark.sql.catalog.spark_catalog", catalog)
      .config("spark.sql.catalog.hudiidx", catalog)
      .getOrCreate()
    SparkSession.setDefaultSession(before)
    SparkSession.setActiveSession(before)
    made.read.format("hudiidx").load(Fixtures.table("v9-cow-part")).createTempView("given_rows")
    made
  }

  type Call = (String, () => Any)

  /** Arguments behind the table, by the procedure's name. `drop_index` without one is not here: it removes the index of any table. */
  private def arguments(key: String): Seq[(String, String)] = Seq(
    "create_index" -> "record => 'global'",
    "add_index" -> "record => 'global'",
    "add_index" -> "columns => array('fare')",
    "add_index" -> "logs => true",
    "drop_index" -> "record => true",
    "drop_index" -> "logs => true",
    "drop_index" -> "columns => array('fare')",
    "update_index" -> "",
    "compact_table" -> "",
    "index_info" -> "",
    "verify" -> "record => true",
    "lookup" -> s"keys => array('$key')",
    "prune" -> "where => 'true'",
    "expire_index_versions" -> "retain_last => 1, older_than_minutes => 0",
    "export_symlink_manifest" -> "read_optimized => true"
  )

  def calls(table: String, key: String): Vector[Call] = arguments(key).toVector.map { case (name, more) =>
    val given = Seq(s"table => '$table'", more).filter(_.nonEmpty).mkString(", ")
    s"CALL $name($more)" -> run(s"CALL system.$name($given)")
  }

  def functions(table: String, key: String): Vector[Call] = Vector(
    "hudiidx_changes" -> s"'$table', '000'",
    "hudiidx_lookup" -> s"'$table', array('$key')",
    "hudiidx_prune" -> s"'$table', 'true'"
  ).map { case (name, given) => s"$name(...)" -> run(s"SELECT * FROM $name($given)") }

  def reads(table: String): Vector[Call] = {
    val name = s"hudiidx.`$table`"
    Vector(
      s"SELECT * FROM $name",
      s"SELECT count(*) FROM $name",
      s"SELECT * FROM $name VERSION AS OF '20260101000000000'",
      s"SELECT * FROM $name TIMESTAMP AS OF '2099-01-01'",
      s"DESCRIBE TABLE $name",
      s"SHOW COLUMNS IN $name"
    ).map(statement(table, _)) ++ NamedTable.Views.map(view => statement(table, s"SELECT * FROM $name.$view"))
  }

  def writes(table: String): Vector[Call] = {
    val name = s"hudiidx.`$table`"
    Vector(
      s"INSERT INTO $name SELECT * FROM given_rows",
      s"INSERT OVERWRITE $name SELECT * FROM given_rows",
      s"UPDATE $name SET fare = 1",
      s"DELETE FROM $name WHERE fare > 1",
      s"DELETE FROM $name",
      s"MERGE INTO $name t USING given_rows s ON t.id = s.id WHEN MATCHED THEN DELETE",
      s"TRUNCATE TABLE $name",
      s"ALTER TABLE $name ADD COLUMNS (more INT)",
      s"REPLACE TABLE $name USING hudiidx AS SELECT 1L AS id",
      s"CREATE OR REPLACE TABLE $name USING hudiidx AS SELECT 1L AS id"
    ).map(statement(table, _))
  }

  private def statement(table: String, text: String): Call = text.replace(table, "T") -> run(text)

  private def run(text: String): () => Any = () => session.sql(text).collect()
}
