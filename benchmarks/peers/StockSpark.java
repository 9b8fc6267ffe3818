import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/** Spark local[2] with stock Hudi, and the tables of the record index benchmarks as it sees them. */
final class StockSpark {
  private StockSpark() {}

  static SparkSession session() {
    SparkSession spark = SparkSession.builder().master("local[2]").appName("record index peers")
        .config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "4").config("spark.default.parallelism", "4")
        .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .config("spark.kryo.registrator", "org.apache.spark.HoodieSparkKryoRegistrar")
        .config("spark.sql.extensions", "org.apache.spark.sql.hudi.HoodieSparkSessionExtension")
        .config("spark.sql.session.timeZone", "UTC").getOrCreate();
    spark.sparkContext().setLogLevel("ERROR");
    return spark;
  }

  /** Rows from..until - 1 of a shape; each task's rows belong to one partition when `tasks` is the shape's number of files. */
  static Dataset<Row> rows(SparkSession spark, KeyShape shape, long from, long until, int tasks) {
    return rowsOf(spark.range(from, until, 1, tasks).toDF(), shape, "id");
  }

  /** Rows for the numbers in the column `id`; `amount` is SQL over id. */
  static Dataset<Row> rowsOf(Dataset<Row> ids, KeyShape shape, String amount) {
    List<String> columns = new ArrayList<>();
    for (int i = 0; i < shape.keyFields.size(); i++) columns.add(shape.keyFieldsSql.get(i) + " as " + shape.keyFields.get(i));
    columns.add(shape.partitionSql() + " as part");
    columns.add("cast(" + amount + " as long) as amount");
    columns.add("1L as ts");
    return ids.selectExpr(columns.toArray(new String[0]));
  }

  /** The columns of `rowsOf` for Hudi's own API. */
  static Schema avroSchema(KeyShape shape) {
    SchemaBuilder.FieldAssembler<Schema> fields = SchemaBuilder.record("row").fields();
    for (String field : shape.keyFields) fields = shape.keyFields.size() == 1 ? fields.requiredString(field) : fields.requiredLong(field);
    return fields.requiredString("part").requiredLong("amount").requiredLong("ts").endRecord();
  }

  /** Writer options of a shape, the operation left open. */
  static Map<String, String> options(KeyShape shape) {
    Map<String, String> options = new HashMap<>();
    options.put("hoodie.table.name", shape.name);
    options.put("hoodie.datasource.write.recordkey.field", String.join(",", shape.keyFields));
    options.put("hoodie.datasource.write.partitionpath.field", "part");
    options.put("hoodie.datasource.write.keygenerator.class", shape.keyGenerator());
    options.put("hoodie.datasource.write.precombine.field", "ts");
    options.put("hoodie.write.markers.type", "direct");
    options.put("hoodie.embed.timeline.server", "false");
    options.put("hoodie.clean.automatic", "false");
    return options;
  }

  /** Metadata table of files, with or without the record index, and nothing else. */
  static Map<String, String> metadataOptions(boolean recordIndex) {
    Map<String, String> options = new HashMap<>();
    options.put("hoodie.metadata.enable", "true");
    options.put("hoodie.metadata.index.column.stats.enable", "false");
    options.put("hoodie.metadata.index.partition.stats.enable", "false");
    options.put("hoodie.metadata.global.record.level.index.enable", Boolean.toString(recordIndex));
    return options;
  }

  /** key, partition and file id of every row, through stock Hudi's reader. */
  static Dataset<Row> stored(SparkSession spark, String table) {
    return mapping(spark.read().format("hudi").option("hoodie.metadata.enable", "false").load(table));
  }

  /** The same from the base files by Spark's own Parquet reader; right for tables of one bulk_insert. */
  static Dataset<Row> baseFiles(SparkSession spark, String table) throws IOException {
    try (Stream<Path> files = Files.walk(Paths.get(table))) {
      String[] names = files.map(Path::toString).filter(f -> f.endsWith(".parquet") && !f.contains("/.hoodie/")).sorted().toArray(String[]::new);
      return mapping(spark.read().parquet(names));
    }
  }

  private static Dataset<Row> mapping(Dataset<Row> rows) {
    return rows.selectExpr("_hoodie_record_key as key", "_hoodie_partition_path as partition",
        "substring_index(_hoodie_file_name, '_', 1) as file");
  }

  /**
   * A copy of a table that may be written to: data files are links (nobody changes them in place), the rest is copied. Hudi's
   * metadata table and other indexes stay behind.
   */
  static String copyOf(String table, String target) throws IOException, InterruptedException {
    String script = "rm -rf \"$2\" && mkdir -p \"$2/.hoodie\" && cd \"$1\" && for f in *; do cp -al \"$f\" \"$2/$f\"; done"
        + " && cd .hoodie && for f in * .[a-z]*; do case \"$f\" in metadata|hudiidx) ;; *) if [ -e \"$f\" ]; then cp -a \"$f\" \"$2/.hoodie/$f\"; fi;; esac; done";
    int code = new ProcessBuilder("bash", "-c", script, "copy", table, target).inheritIO().start().waitFor();
    if (code != 0) throw new IOException("copying " + table + " to " + target + " ended with " + code);
    return target;
  }
}
