import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Tables of the record index benchmarks, written by stock Hudi's bulk_insert, Spark local[2], without a metadata table.
 *
 * <pre>
 * KeyTables DIR SHAPE...     makes DIR/SHAPE and DIR/SHAPE.json for every shape that is not there yet
 * </pre>
 */
public final class KeyTables {
  private static final int SAMPLE = 10_000;
  private static final int ABSENT = 1_000;

  public static void main(String[] args) throws Exception {
    SparkSession spark = StockSpark.session();
    try {
      for (int i = 1; i < args.length; i++) {
        KeyShape shape = KeyShape.of(args[i]);
        Path facts = Paths.get(args[0], shape.name + ".json");
        if (Files.exists(facts)) continue;
        String table = args[0] + "/" + shape.name;
        double millis = Report.millis(() -> write(spark, shape, table));
        System.out.printf("%s: %,d rows written in %.1f s%n", shape.name, shape.rows, millis / 1000);
        new ObjectMapper().writerWithDefaultPrettyPrinter().writeValue(facts.toFile(), facts(spark, shape, table));
      }
    } finally {
      spark.stop();
    }
  }

  private static String write(SparkSession spark, KeyShape shape, String table) {
    StockSpark.rows(spark, shape, 0, shape.rows, shape.files).write().format("hudi").options(StockSpark.options(shape))
        .option("hoodie.datasource.write.operation", "bulk_insert").option("hoodie.metadata.enable", "false")
        .option("hoodie.parquet.max.file.size", Long.toString(8L << 30)).mode("overwrite").save(table);
    return table;
  }

  /** What stock Hudi reads back, refused unless it is what was to be written. */
  private static ObjectNode facts(SparkSession spark, KeyShape shape, String table) throws Exception {
    Dataset<Row> read = StockSpark.stored(spark, table);
    read.createOrReplaceTempView("stored");
    Row sums = spark.sql("select count(*), count(distinct partition), count(distinct file), " + checksum("key", "partition")
        + " from stored").first();
    spark.range(0, shape.rows).selectExpr(shape.keySql + " as key", shape.partitionSql() + " as partition").createOrReplaceTempView("wanted");
    String wanted = spark.sql("select " + checksum("key", "partition") + " from wanted").first().get(0).toString();
    String found = sums.get(3).toString();
    if (sums.getLong(0) != shape.rows || sums.getLong(1) != shape.partitions || sums.getLong(2) != shape.files || !wanted.equals(found))
      throw new IllegalStateException(table + ": stock Hudi reads " + sums + ", wanted " + shape.rows + " rows, " + shape.partitions
          + " partitions, " + shape.files + " files, checksum " + wanted);
    ObjectNode facts = new ObjectMapper().createObjectNode();
    facts.put("kind", "keys").put("shape", shape.name).put("rows", shape.rows).put("files", shape.files).put("partitions", shape.partitions);
    facts.put("key_form", shape.keyForm).put("checksum", found).put("key_sql", shape.keySql).put("partition_sql", shape.partitionSql());
    facts.put("base_bytes", baseBytes(table));
    shape.keyFields.forEach(facts.withArray("key_fields")::add);
    shape.keyFieldsSql.forEach(facts.withArray("key_fields_sql")::add);
    keys(spark, shape, "id * " + shape.rows / SAMPLE + " + id % " + shape.rows / SAMPLE, SAMPLE).forEach(facts.withArray("existing")::add);
    keys(spark, shape, "id + " + shape.rows, ABSENT).forEach(facts.withArray("absent")::add);
    return facts;
  }

  /** Sum over all mappings of the first 60 bits of md5(partition/key). */
  private static String checksum(String key, String partition) {
    return "cast(sum(cast(conv(substr(md5(concat(" + partition + ", '/', " + key + ")), 1, 15), 16, 10) as decimal(30,0))) as string)";
  }

  private static List<String> keys(SparkSession spark, KeyShape shape, String id, int count) {
    return new ArrayList<>(spark.range(0, count, 1, 1).selectExpr(id + " as id").selectExpr(shape.keySql).as(Encoders.STRING()).collectAsList());
  }

  private static long baseBytes(String table) throws Exception {
    try (Stream<Path> files = Files.walk(Paths.get(table))) {
      return files.map(Path::toFile).filter(f -> f.getName().endsWith(".parquet")).mapToLong(File::length).sum();
    }
  }
}
