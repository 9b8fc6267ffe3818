import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Prints all keys that the release of Hudi on the class path keeps in hoodie.properties, older names too. */
public class TablePropertyKeys {
  public static void main(String[] arguments) throws Exception {
    for (Field field : Class.forName("org.apache.hudi.common.table.HoodieTableConfig").getDeclaredFields()) {
      if (!Modifier.isStatic(field.getModifiers())) continue;
      field.setAccessible(true);
      Object value = field.get(null);
      List<Object> found = new ArrayList<>();
      if (value instanceof Collection) found.addAll((Collection<?>) value);
      else found.add(value);
      for (Object property : found)
        if (property != null && property.getClass().getSimpleName().equals("ConfigProperty")) print(property);
    }
  }

  private static void print(Object property) throws Exception {
    Class<?> type = property.getClass();
    System.out.println("key " + type.getMethod("key").invoke(property));
    for (Object older : (Collection<?>) type.getMethod("getAlternatives").invoke(property)) System.out.println("key " + older);
  }
}
