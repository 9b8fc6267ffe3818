package hudiidx.spark.read;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.PrimitiveIterator;
import java.util.stream.IntStream;
import hudiidx.spark.shims.ParquetShims;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.ParquetMetadata;
import org.apache.parquet.internal.column.columnindex.OffsetIndex;
import org.apache.parquet.internal.filter2.columnindex.ColumnIndexStore;
import org.apache.parquet.internal.filter2.columnindex.RowRanges;
import org.apache.spark.sql.execution.datasources.parquet.SpecificParquetRecordReaderBase;
import org.apache.spark.sql.execution.datasources.parquet.VectorizedParquetRecordReader;

/**
 * Spark's reader of batches, told the numbers of the rows to read: of each column only the pages that hold them are read, and
 * in those all other values are skipped. What hands it row groups is of a type that only Spark's own package can name, so
 * it is put in place by reflection.
 */
final class RowsReader extends VectorizedParquetRecordReader {
  RowsReader(java.time.ZoneId convertTz, String datetimeMode, String datetimeZone, String int96Mode, String int96Zone,
      int capacity) {
    super(convertTz, datetimeMode, datetimeZone, int96Mode, int96Zone, false, capacity);
  }

  /** @param rows ascending */
  void initialize(InputSplit split, TaskAttemptContext context, ParquetMetadata footer, int[] rows)
      throws IOException, InterruptedException {
    ParquetShims.initialize(this, split, context, footer);
    try {
      Field groups = field(SpecificParquetRecordReaderBase.class);
      Object all = groups.get(this);
      RowGroups some = new RowGroups((ParquetFileReader) field(all.getClass()).get(all), rows);
      Class<?> type = groups.getType();
      groups.set(this, Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> some.answer(method)));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("Spark's Parquet reader is not the one that this jar was built for", e);
    }
    totalRowCount = rows.length;
  }

  private static Field field(Class<?> owner) throws ReflectiveOperationException {
    Field reader = owner.getDeclaredField("reader");
    reader.setAccessible(true);
    return reader;
  }

  /** Hands out the row groups that hold wanted rows, each with no more than these. */
  private static final class RowGroups {
    private final ParquetFileReader file;
    private final int[] rows;
    private int group = 0;
    private long firstRow = 0;
    private int given = 0;

    RowGroups(ParquetFileReader file, int[] rows) {
      this.file = file;
      this.rows = rows;
    }

    Object answer(Method method) throws IOException {
      if (method.getName().equals("readNextRowGroup")) return next();
      if (method.getName().equals("close")) file.close();
      return null;
    }

    private PageReadStore next() throws IOException {
      while (given < rows.length && group < file.getRowGroups().size()) {
        long count = file.getRowGroups().get(group).getRowCount();
        int from = given;
        while (given < rows.length && rows[given] < firstRow + count) given++;
        long first = firstRow;
        firstRow += count;
        group++;
        if (given > from) {
          long[] inGroup = Arrays.stream(rows, from, given).mapToLong(r -> r - first).toArray();
          return read(ranges(inGroup, count));
        }
      }
      return null;
    }

    /** Parquet keeps to itself why it could not read an offset index. */
    private PageReadStore read(RowRanges ranges) throws IOException {
      try {
        return file.readFilteredRowGroup(group - 1, ranges);
      } catch (ColumnIndexStore.MissingOffsetIndexException e) {
        throw new IOException(file.getFile() + ": an offset index cannot be read (" + e.getMessage() + ")", e);
      }
    }

    /** Parquet makes ranges out of pages alone, so each row is shown to it as a page. */
    private static RowRanges ranges(long[] rows, long count) {
      PrimitiveIterator.OfInt pages = IntStream.range(0, rows.length).iterator();
      return RowRanges.create(count, pages, new PagesOfOneRow(rows));
    }
  }

  private static final class PagesOfOneRow implements OffsetIndex {
    private final long[] rows;

    PagesOfOneRow(long[] rows) {
      this.rows = rows;
    }

    @Override
    public int getPageCount() {
      return rows.length;
    }

    @Override
    public long getFirstRowIndex(int page) {
      return rows[page];
    }

    @Override
    public long getLastRowIndex(int page, long rowCount) {
      return rows[page];
    }

    @Override
    public long getOffset(int page) {
      throw new UnsupportedOperationException("a row has no place of its own");
    }

    @Override
    public int getCompressedPageSize(int page) {
      throw new UnsupportedOperationException("a row has no size of its own");
    }
  }
}
