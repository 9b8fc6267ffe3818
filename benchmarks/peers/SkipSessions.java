import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;
import scala.Function1;
import scala.runtime.BoxedUnit;

/** One Spark, local[2], and for each table format a session of its own with the extensions that this format asks for. */
final class SkipSessions {
  private SkipSessions() {}

  static SparkSession of(String format) throws Exception {
    SparkSession.clearActiveSession();
    SparkSession.clearDefaultSession();
    SparkSession.Builder builder = SparkSession.builder().master("local[2]").appName("skips")
        .config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "4").config("spark.default.parallelism", "4")
        .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .config("spark.kryo.registrator", "org.apache.spark.HoodieSparkKryoRegistrar")
        .config("spark.hadoop.fs.file.impl", CountedFiles.class.getName())
        .config("spark.sql.session.timeZone", "UTC").config("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS");
    String extensions = null;
    if (format.equals("hudi")) extensions = "org.apache.spark.sql.hudi.HoodieSparkSessionExtension";
    if (format.equals("iceberg")) {
      extensions = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions";
      // Tables named by their path are looked for in it.
      builder = builder.config("spark.sql.catalog.default_iceberg", "org.apache.iceberg.spark.SparkCatalog")
          .config("spark.sql.catalog.default_iceberg.type", "hadoop")
          .config("spark.sql.catalog.default_iceberg.warehouse", System.getProperty("java.io.tmpdir"));
    }
    if (format.equals("hudiidx")) extensions = "hudiidx.spark.HudiIdxExtensions";
    if (format.equals("delta")) {
      extensions = "io.delta.sql.DeltaSparkSessionExtension";
      builder = builder.config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog");
    }
    if (extensions != null) builder = builder.withExtensions(extension(extensions));
    SparkSession spark = builder.getOrCreate();
    spark.sparkContext().setLogLevel("ERROR");
    return spark;
  }

  @SuppressWarnings("unchecked")
  private static Function1<SparkSessionExtensions, BoxedUnit> extension(String name) throws Exception {
    return (Function1<SparkSessionExtensions, BoxedUnit>) Class.forName(name).getConstructor().newInstance();
  }

  /** The local file system, which tells the data files that were opened and the bytes that were asked of them. */
  public static final class CountedFiles extends LocalFileSystem {
    private static final Set<String> OPENED = ConcurrentHashMap.newKeySet();
    private static final AtomicLong BYTES = new AtomicLong();
    private static volatile boolean counting = false;

    static void start() {
      OPENED.clear();
      BYTES.set(0);
      counting = true;
    }

    static void stop() {
      counting = false;
    }

    static int files() {
      return OPENED.size();
    }

    static long bytes() {
      return BYTES.get();
    }

    @Override
    public FSDataInputStream open(Path file, int bufferBytes) throws IOException {
      FSDataInputStream in = super.open(file, bufferBytes);
      String path = file.toUri().getPath();
      if (!counting || !path.endsWith(".parquet") || path.contains("/.hoodie/") || path.contains("/_delta_log/")) return in;
      OPENED.add(path);
      return new FSDataInputStream(new Counted(in));
    }

    private static final class Counted extends FSInputStream {
      private final FSDataInputStream in;

      Counted(FSDataInputStream in) {
        this.in = in;
      }

      @Override
      public int read() throws IOException {
        int b = in.read();
        if (b >= 0) BYTES.incrementAndGet();
        return b;
      }

      @Override
      public int read(byte[] into, int offset, int length) throws IOException {
        int n = in.read(into, offset, length);
        if (n > 0) BYTES.addAndGet(n);
        return n;
      }

      @Override
      public void seek(long position) throws IOException {
        in.seek(position);
      }

      @Override
      public long getPos() throws IOException {
        return in.getPos();
      }

      @Override
      public boolean seekToNewSource(long target) throws IOException {
        return in.seekToNewSource(target);
      }

      @Override
      public void close() throws IOException {
        in.close();
      }
    }
  }
}
