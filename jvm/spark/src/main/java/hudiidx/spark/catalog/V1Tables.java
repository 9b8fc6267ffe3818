package hudiidx.spark.catalog;

import java.util.Optional;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.V1Table;

/** Tables of a session's own catalog as it gives them to Spark. In Java, because the class is hidden from Scala only. */
public final class V1Tables {
  private V1Tables() {}

  public static Table of(CatalogTable definition) {
    return new V1Table(definition);
  }

  /** Empty for a table of another kind. */
  public static Optional<CatalogTable> definition(Table table) {
    return table instanceof V1Table v1 ? Optional.of(v1.v1Table()) : Optional.empty();
  }
}
