import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;
import org.apache.hudi.common.util.io.ByteBufferBackedInputStream;
import org.apache.hudi.io.ByteArraySeekableDataInputStream;
import org.apache.hudi.io.hfile.HFileReader;
import org.apache.hudi.io.hfile.HFileReaderImpl;
import org.apache.hudi.io.hfile.UTF8StringKey;

/**
 * HBase's and Hudi's HFile readers on files that the benchmark HFileBench wrote: a scan of all cells, and 1,000 ascending
 * lookups with one scanner after opening.
 *
 * <pre>
 * HFileReaders DIR OUT      DIR holds none.hfile, gzip.hfile and keys.txt, the keys to look up in ascending order
 * </pre>
 */
public final class HFileReaders {
  private static final int REPEATS = 9;

  public static void main(String[] args) throws Exception {
    List<String> keys = Files.readAllLines(Paths.get(args[0], "keys.txt"));
    for (String codec : new String[] {"none", "gzip"}) {
      Path file = Paths.get(args[0], codec + ".hfile");
      Report hbase = new Report(Paths.get(args[1]), "HFile " + codec, "HBase 2.5.10");
      time(hbase, "scan", () -> hbaseScan(file));
      time(hbase, "1000 lookups", () -> hbaseLookups(file, keys));
      Report hudi = new Report(Paths.get(args[1]), "HFile " + codec, "hudi-io 1.1.1");
      time(hudi, "scan", () -> hudiScan(file));
      time(hudi, "1000 lookups", () -> hudiLookups(file, keys));
    }
  }

  private static void time(Report report, String what, java.util.concurrent.Callable<Long> call) throws Exception {
    List<Double> times = new ArrayList<>();
    for (int i = 0; i < REPEATS + 3; i++) {
      double millis = Report.millis(call);
      if (i >= 3) times.add(millis);
    }
    report.add(what + ", cells", "table", "", call.call(), "cells", 1);
    report.median(what, "table", "warm", times);
  }

  private static final Configuration CONF = new Configuration(false);

  private static HFile.Reader hbase(Path file) throws Exception {
    CONF.set("fs.defaultFS", "file:///");
    FileSystem fs = FileSystem.getLocal(CONF).getRawFileSystem();
    return HFile.createReader(fs, new org.apache.hadoop.fs.Path(file.toUri()), CacheConfig.DISABLED, true, CONF);
  }

  private static long hbaseScan(Path file) throws Exception {
    try (HFile.Reader reader = hbase(file)) {
      HFileScanner scanner = reader.getScanner(CONF, false, false);
      long cells = 0;
      for (boolean more = scanner.seekTo(); more; more = scanner.next()) {
        ByteBuffer value = scanner.getValue();
        cells += value.remaining() > 0 ? 1 : 0;
      }
      return cells;
    }
  }

  private static long hbaseLookups(Path file, List<String> keys) throws Exception {
    try (HFile.Reader reader = hbase(file)) {
      HFileScanner scanner = reader.getScanner(CONF, false, true);
      byte[] none = new byte[0];
      long found = 0;
      for (String key : keys) {
        byte[] row = key.getBytes(StandardCharsets.UTF_8);
        if (scanner.seekTo(new KeyValue(row, none, none, HConstants.LATEST_TIMESTAMP, none)) == 0)
          found += scanner.getValue().remaining() > 0 ? 1 : 0;
      }
      return found;
    }
  }

  private static HFileReader hudi(Path file) throws Exception {
    byte[] bytes = Files.readAllBytes(file);
    HFileReaderImpl reader = new HFileReaderImpl(
        new ByteArraySeekableDataInputStream(new ByteBufferBackedInputStream(bytes)), bytes.length);
    reader.initializeMetadata();
    return reader;
  }

  private static long hudiScan(Path file) throws Exception {
    HFileReader reader = hudi(file);
    long cells = 0;
    for (boolean more = reader.seekTo(); more; more = reader.next())
      cells += reader.getKeyValue().get().getValueLength() > 0 ? 1 : 0;
    return cells;
  }

  private static long hudiLookups(Path file, List<String> keys) throws Exception {
    HFileReader reader = hudi(file);
    reader.seekTo();
    long found = 0;
    for (String key : keys)
      if (reader.seekTo(new UTF8StringKey(key)) == HFileReader.SEEK_TO_FOUND)
        found += reader.getKeyValue().get().getValueLength() > 0 ? 1 : 0;
    return found;
  }
}
