import java.io.InputStream;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Collections;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/** Prints all keys that classes of a release of Hudi declare as options of writers and tables, and what they stand for without a value. */
public class WriterOptionKeys {
  private static final String PROPERTY = "org.apache.hudi.common.config.ConfigProperty";

  /** Arguments: the release's jar, which is on the class path too. */
  public static void main(String[] arguments) throws Exception {
    String mark = "L" + PROPERTY.replace('.', '/') + ";";
    try (JarFile jar = new JarFile(arguments[0])) {
      for (JarEntry entry : Collections.list(jar.entries())) {
        String name = entry.getName();
        if (!name.startsWith("org/apache/hudi/") || !name.endsWith(".class")) continue;
        try (InputStream in = jar.getInputStream(entry)) {
          if (new String(in.readAllBytes(), StandardCharsets.ISO_8859_1).contains(mark))
            print(name.substring(0, name.length() - ".class".length()).replace('/', '.'));
        }
      }
    }
  }

  private static void print(String name) throws Exception {
    if (name.contains("DataSourceReadOptions")) return;
    try {
      Class<?> type = Class.forName(name);
      for (Field field : type.getDeclaredFields()) {
        if (!Modifier.isStatic(field.getModifiers()) || !field.getType().getName().equals(PROPERTY)) continue;
        field.setAccessible(true);
        keys(field.get(null));
      }
      if (name.endsWith("$")) {
        Object module = type.getField("MODULE$").get(null);
        for (Method method : type.getMethods())
          if (method.getParameterCount() == 0 && method.getReturnType().getName().equals(PROPERTY))
            keys(method.invoke(module));
      }
    } catch (LinkageError e) {
      System.out.println("unread " + name); // what it stands on is not in the bundle
    }
  }

  private static void keys(Object property) throws Exception {
    if (property == null) return;
    Class<?> type = property.getClass();
    System.out.println("key " + type.getMethod("key").invoke(property));
    for (Object older : (Collection<?>) type.getMethod("getAlternatives").invoke(property)) System.out.println("key " + older);
    if ((Boolean) type.getMethod("hasDefaultValue").invoke(property))
      System.out.println("default " + type.getMethod("key").invoke(property) + " " + type.getMethod("defaultValue").invoke(property));
  }
}
