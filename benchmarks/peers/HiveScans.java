import hudiidx.hive.mapreduce.HudiIdxInputFormat;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.ArrayWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;

/**
 * Scans of a table through the input format of the Hive jar on the class path, on one thread. Prints, for each query, a line of table,
 * query, rows, a sum over the rows, and rows for each second of the thread's processor time between the opening of splits and their last
 * rows, the best of five scans behind three that warm up. Planning, and merging of keys, which opening does, are left out.
 *
 * <pre>
 * HiveScans TABLE
 * </pre>
 */
public final class HiveScans {
  private static final int WARM = 3;
  private static final int TIMED = 5;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static long nanos;

  public static void main(String[] args) throws Exception {
    Map<String, String[]> queries = new LinkedHashMap<>();
    queries.put("all columns", null);
    queries.put("three columns", new String[] {"key", "amount", "day"});
    queries.put("one number", new String[] {"amount"});
    queries.put("count", new String[0]);
    for (Map.Entry<String, String[]> query : queries.entrySet()) {
      long best = Long.MAX_VALUE;
      long[] found = null;
      for (int i = 0; i < WARM + TIMED; i++) {
        nanos = 0;
        long[] again = scan(args[0], query.getValue());
        if (i >= WARM) best = Math.min(best, nanos);
        if (found != null && !Arrays.equals(found, again)) throw new IllegalStateException("other rows than before");
        found = again;
      }
      System.out.printf("%s|%s|%d|%d|%.0f%n", new Path(args[0]).getName(), query.getKey(), found[0], found[1], found[0] * 1e9 / best);
    }
  }

  /** Rows, and the sum of the hashes of their values. */
  private static long[] scan(String table, String[] columns) throws Exception {
    Job job = Job.getInstance(new Configuration());
    FileInputFormat.addInputPath(job, new Path(table));
    if (columns != null) HudiIdxInputFormat.setColumns(job.getConfiguration(), columns);
    HudiIdxInputFormat format = new HudiIdxInputFormat();
    TaskAttemptContext context = new TaskAttemptContextImpl(job.getConfiguration(), new TaskAttemptID());
    long rows = 0;
    long sum = 0;
    for (InputSplit split : format.getSplits(job))
      try (RecordReader<NullWritable, ArrayWritable> reader = format.createRecordReader(split, context)) {
        reader.initialize(split, context);
        long started = THREADS.getCurrentThreadCpuTime();
        while (reader.nextKeyValue()) {
          rows++;
          for (Writable value : reader.getCurrentValue().get()) if (value != null) sum += value.hashCode();
        }
        nanos += THREADS.getCurrentThreadCpuTime() - started;
      }
    return new long[] {rows, sum};
  }
}
