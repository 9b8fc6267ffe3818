import java.util.Arrays;
import java.util.List;

/**
 * A table of the record index benchmarks: everything follows from the row number {@code id}, 0 to rows - 1. Numbers from
 * {@code rows} on give keys of the same form that the table does not have.
 */
final class KeyShape {
  private static final String UUID = "regexp_replace(md5(cast(id as string)), '^(.{8})(.{4})(.{4})(.{4})(.{12})$', '$1-$2-$3-$4-$5')";
  private static final String DECIMAL = "cast(id as string)";
  /** Account numbers in no order, five items each: 48271 generates the multiplicative group of the prime 2^31 - 1. */
  private static final String ACCOUNT = "pmod((id div 5 + 1) * 48271, 2147483647)";
  private static final String ITEM = "id % 5";

  final String name;
  final String keyForm;
  final long rows;
  final int files;
  final int partitions;
  /** Names of the key columns, and per column its SQL over id. */
  final List<String> keyFields;
  final List<String> keyFieldsSql;
  /** The record key, SQL over id. */
  final String keySql;

  private KeyShape(String name, String keyForm, long rows, int files, int partitions, List<String> fields, List<String> sql, String keySql) {
    this.name = name;
    this.keyForm = keyForm;
    this.rows = rows;
    this.files = files;
    this.partitions = partitions;
    this.keyFields = fields;
    this.keyFieldsSql = sql;
    this.keySql = keySql;
  }

  static KeyShape of(String name) {
    switch (name) {
      case "U1": return single(name, "uuid", 1_000_000, 16, 4, UUID);
      case "U5": return single(name, "uuid", 5_000_000, 16, 4, UUID);
      case "U20": return single(name, "uuid", 20_000_000, 16, 4, UUID);
      case "U50": return single(name, "uuid", 50_000_000, 16, 4, UUID);
      case "D20": return single(name, "decimal", 20_000_000, 16, 4, DECIMAL);
      case "P365": return single(name, "uuid", 2_000_000, 2_000, 365, UUID);
      case "K2": return new KeyShape(name, "two fields", 5_000_000, 16, 4, Arrays.asList("account", "item"),
          Arrays.asList(ACCOUNT, ITEM), "concat('account:', " + ACCOUNT + ", ',item:', " + ITEM + ")");
      default: throw new IllegalArgumentException(name + " is no shape; known: U1 U5 U20 U50 D20 P365 K2");
    }
  }

  private static KeyShape single(String name, String form, long rows, int files, int partitions, String sql) {
    return new KeyShape(name, form, rows, files, partitions, Arrays.asList("key"), Arrays.asList(sql), sql);
  }

  /** The partition of a row, SQL over id: consecutive rows share a file, consecutive files a partition. */
  String partitionSql() {
    String file = "(id div " + rows / files + ")";
    String number = "cast(" + file + " * " + partitions + " div " + files + " as int)";
    return partitions == 365 ? "cast(date_add(date'2025-01-01', " + number + ") as string)" : "concat('p', " + number + ")";
  }

  /**
   * A batch of n different keys, nine in ten of them in the table and spread over it: row numbers, SQL over the column id that
   * counts 0 to n - 1. `salt`, below rows / n, picks other keys of the same spread.
   */
  String batchSql(long n, long salt) {
    return "case when id % 10 = 9 then id + " + (rows + salt * n) + " else id * " + Math.max(1, rows / n) + " + " + salt + " end";
  }

  String keyGenerator() {
    return "org.apache.hudi.keygen." + (keyFields.size() > 1 ? "ComplexKeyGenerator" : "SimpleKeyGenerator");
  }
}
