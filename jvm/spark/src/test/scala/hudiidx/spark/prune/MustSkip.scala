package hudiidx.spark.prune

import org.apache.spark.sql.internal.SQLConf

/** Files that filters must leave out, of every type of column and form of filter. */
private[prune] object MustSkip {

  // With errors for what does not fit, as Spark 4 casts, a file with such a value must be read.
  private val cast = if (new SQLConf().ansiEnabled) "TRY_CAST" else "CAST"

  /** Column, its values in a file, and filters that no row of the file can satisfy. */
  val All: Vector[(String, Vector[Any], Vector[String])] = Vector(
    (
      "i",
      Vector(10, 20),
      Vector(
        "i = 9",
        "9 = i",
        "i <=> 21",
        "i < 10",
        "i <= 9",
        "i > 20",
        "i >= 21",
        "20 < i",
        "i BETWEEN 21 AND 30",
        "i IN (1, 9, 21)",
        "i IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 21, 22, 23)",
        "i IS NULL",
        "i <=> NULL",
        "NOT (i >= 10)",
        "NOT (i <= 5 OR i > 9)",
        "i > 20 OR i < 10",
        "i > 20 AND name = 'x'",
        "i + 1 > 21",
        "i - 1 = 20",
        "5 - i = 0",
        "i * 2 = 19",
        "i * -1 > -10",
        "-i < -20",
        "i div 10 = 3",
        "CAST(i AS BIGINT) = 9",
        "CAST(i AS DOUBLE) > 20.5",
        "CAST(i AS FLOAT) < 9.5",
        "CAST(i AS DECIMAL(12,2)) > 20.01",
        "CAST(i AS STRING) = '9'",
        "greatest(i, 5) = 5",
        "least(i, 5) = 10",
        "coalesce(i, 1) = 1",
        "if(i > 5, i, 0) = 0",
        "CASE WHEN i < 10 THEN true ELSE false END",
        "i IN (9)",
        "i = 9.0",
        "i > 20.5",
        "timestamp_seconds(i) > TIMESTAMP'2024-01-01'",
        "from_unixtime(i) > '2024-01-01 00:00:00'",
        "i = 9 AND i > 5",
        "i + 2 * 3 = 9"
      )
    ),
    ("i", Vector(5, 5), Vector("i != 5", "NOT (i = 5)", "i NOT IN (5, 6)", "NOT (i <=> 5)")),
    (
      "i",
      Vector(null),
      Vector("i = 5", "i != 5", "i IS NOT NULL", "i > 0 OR i <= 0", "i NOT IN (1)", "i + 1 > 0", "abs(i) > 1", "i = l")
    ),
    ("i", Vector(5, null), Vector("i = 6", "NOT (i <=> 5 OR i IS NULL)", "coalesce(i, 7) = 6", "nullif(i, 5) = 5")),
    ("l", Vector(1L << 53, (1L << 53) + 2), Vector("l = 9007199254740991", "CAST(l AS DOUBLE) > 9007199254740996D")),
    (
      "f",
      Vector(1.5f, 2.5f),
      Vector("f > 2.5", "CAST(f AS DOUBLE) < 1.4999999", "isnan(f)", "f + 1 > 4", "round(f) = 5", "f = 'NaN'")
    ),
    (
      "d",
      Vector(-0.0, 89.9),
      Vector(
        "d > 90",
        "d < 0",
        "d = 'NaN'",
        "isnan(d)",
        "d / 2 > 45",
        "d * -2 > 0",
        "floor(d) = 90",
        "ceil(d) > 90",
        s"$cast(d AS INT) = 90",
        "10 - d > 10.5",
        "CAST(d AS DECIMAL(9,1)) > 90.0",
        "d = 'Infinity'"
      )
    ),
    ("d", Vector(Double.NaN), Vector("d < 1e308", "NOT isnan(d)", "d <= 'Infinity'", "d != 'NaN'")),
    (
      "dec5",
      Vector("1.25", "7.50"),
      Vector(
        "dec5 > 7.5",
        "dec5 = 1.2",
        "dec5 < 1.250",
        "dec5 + 1 > 8.5",
        "CAST(dec5 AS INT) = 8",
        "dec5 > 7.501",
        "dec5 * 2 < 2.5"
      )
    ),
    (
      "dec18",
      Vector("1.25", "7.50"),
      Vector("dec18 > 7.5", "dec18 = 8", "CAST(dec18 AS DOUBLE) > 7.51", "dec18 < 1.24999")
    ),
    (
      "dec38",
      Vector("-1.25", "7.50"),
      Vector("dec38 > 7.5", "dec38 = 8", "dec38 < -1.25", "dec38 IN (8, 9)", "dec38 BETWEEN 7.6 AND 8")
    ),
    (
      "name",
      Vector("bergen", "oslo"),
      Vector(
        "name = 'paris'",
        "name < 'bergen'",
        "name > 'oslo'",
        "name LIKE 'p%'",
        "name LIKE 'p_r%s'",
        "startswith(name, 'a')",
        "name NOT LIKE '%' ",
        "name IN ('a', 'z')",
        "upper(name) = 'PARIS'",
        "lower(name) = 'amsterdam'",
        "upper(name) LIKE 'PA%'",
        "substring(name, 1, 1) = 'p'",
        "left(name, 2) = 'pa'",
        "substring(name, 1, 2) > 'os'",
        "substr(name, 0, 3) < 'ber'",
        "CAST(name AS BINARY) > X'70'",
        "name LIKE 'Oslo'",
        "upper(substring(name, 1, 1)) = 'P'"
      )
    ),
    (
      "name",
      Vector("pa", "paris"),
      Vector("name NOT LIKE 'p%'", "NOT startswith(name, 'pa')", "NOT (name >= 'pa' AND name < 'pb')")
    ),
    ("name", Vector("p" * 70 + "a", "p" * 70 + "c"), Vector(s"name > '${"p" * 70}c'", s"name = '${"p" * 70}'")),
    (
      "name",
      Vector("a\uD83D\uDE00", "a\uD83D\uDE01"),
      Vector("name > 'a\uD83D\uDE02'", "name = 'a\uFFFD'", "name < 'a\uD83D\uDE00'")
    ),
    ("bytes", Vector(Array[Byte](1, -1)), Vector("bytes = X'01'", "bytes > X'01FF'", "bytes < X'01FF'")),
    ("flag", Vector(true), Vector("NOT flag", "flag = false", "flag IS NULL", "flag != true", "CAST(flag AS INT) = 0")),
    ("s.i", Vector(10, 20), Vector("s.i = 9", "s.i + 1 > 21", "s.i IS NULL")),
    (
      "day",
      Vector("2024-02-10", "2024-03-20"),
      Vector(
        "day > '2024-03-20'",
        "day = DATE'2024-02-09'",
        "year(day) = 2023",
        "month(day) = 4",
        "month(day) IN (1, 12)",
        "quarter(day) = 2",
        "trunc(day, 'MM') = DATE'2024-01-01'",
        "date_trunc('YEAR', day) = TIMESTAMP'2023-01-01'",
        "last_day(day) < DATE'2024-02-29'",
        "date_add(day, 1) = DATE'2024-02-10'",
        "add_months(day, -1) > DATE'2024-02-20'",
        "datediff(DATE'2024-03-21', day) = 0",
        "datediff(day, DATE'2024-01-01') > 100",
        "date_format(day, 'yyyy-MM') = '2024-04'",
        "CAST(day AS TIMESTAMP) > TIMESTAMP'2024-03-20 00:00:00'",
        "CAST(day AS STRING) LIKE '2023%'",
        "dayofyear(day) > 90",
        "weekofyear(day) = 1",
        "day + INTERVAL 1 MONTH < DATE'2024-03-10'",
        "month(day) = day(day) AND month(day) = 4",
        "unix_date(day) < 19000",
        "date_format(day, 'MM-dd') = '04-01'"
      )
    ),
    (
      "day",
      Vector("1581-12-31", "1582-10-04"),
      Vector("day > DATE'1582-10-04'", "year(day) = 1583", "day < DATE'1581-12-31'")
    ),
    (
      "ts",
      Vector("2024-02-10T05:00:00Z", "2024-02-10T06:30:00Z"),
      Vector(
        "ts > TIMESTAMP'2024-02-10 06:30:00Z'",
        "to_date(ts) = DATE'2024-02-11'",
        "date(ts) < '2024-02-10'",
        "year(ts) > 2024",
        "month(ts) = 3",
        "hour(ts) = 7",
        "hour(ts) BETWEEN 8 AND 20",
        "date_trunc('DAY', ts) = TIMESTAMP'2024-02-09'",
        "date_trunc('HOUR', ts) > TIMESTAMP'2024-02-10 06:00:00'",
        "date_trunc('MONTH', ts) < TIMESTAMP'2024-02-01'",
        "date_format(ts, 'yyyy-MM-dd') = '2024-02-11'",
        "date_format(ts, 'yyyyMMddHH') = '2024021004'",
        "CAST(ts AS STRING) LIKE '2024-03%'",
        "unix_timestamp(ts) > 1707546600",
        "CAST(ts AS LONG) < 1707541200",
        "ts + INTERVAL 1 DAY < TIMESTAMP'2024-02-11 05:00:00Z'",
        "ts - INTERVAL 2 HOURS > TIMESTAMP'2024-02-10 05:00:00Z'",
        "dayofweek(ts) = 1",
        "to_date(ts) BETWEEN '2024-02-11' AND '2024-02-12'",
        "ts < DATE'2024-02-10'",
        "CAST(ts AS TIMESTAMP_NTZ) > TIMESTAMP_NTZ'2024-02-10 06:30:00'",
        "TIMESTAMP'2024-02-10 07:00:00Z' - ts > INTERVAL '3' HOUR"
      )
    ),
    (
      "local",
      Vector("2024-02-10T05:00:00Z", "2024-02-10T06:30:00Z"),
      Vector("local > TIMESTAMP_NTZ'2024-02-10 06:30:00'", "hour(local) = 7", "to_date(local) = DATE'2024-02-09'")
    )
  )
}
