package hudiidx.hive

import org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe

/** Hive's Parquet serde under a name of ours. Spark reads the files of Hive tables whose serde is called after Parquet by itself,
  * all that lie in the folder, unless `spark.sql.hive.convertMetastoreParquet` is false; of a table with this serde it asks the
  * input format.
  */
final class HudiIdxSerDe extends ParquetHiveSerDe
