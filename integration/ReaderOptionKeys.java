import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.InputStream;
import java.lang.reflect.Field;
import java.util.Collection;
import java.util.Collections;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Pattern;

/** Prints all keys of options that classes of a release of Hudi name which read tables: keys that they write out, and declared options that they ask for. */
public class ReaderOptionKeys {
  private static final String PROPERTY = "org/apache/hudi/common/config/ConfigProperty";
  private static final Pattern KEY = Pattern.compile("_?hoodie(\\.[a-z0-9_-]+)+");
  private static final TreeSet<String> FOUND = new TreeSet<>();

  /** Of Spark's reader and what it stands on. */
  private static final Pattern READING = Pattern.compile(
      "org/apache/hudi/(\\w*(Relation|FileIndex|FileFormat|IndexSupport)\\w*|LogFileIterator|RecordMergingFileIterator|SkipMergeIterator"
          + "|DataSourceReadOptions|HoodieTableSchema|HoodieSparkUtils|cdc/.*|common/table/read/.*|common/table/log/\\w*(Reader|Scanner)\\w*"
          + "|io/storage/.*Reader.*|io/hfile/.*|common/config/HoodieReaderConfig)(\\$.*)?"
          + "|org/apache/spark/sql/(execution/datasources/.*Hoodie.*|execution/datasources/.*(Lance|Blob).*|hudi/streaming/.*|hudi/blob/.*"
          + "|catalyst/plans/logical/Hoodie.*(TableValuedFunction|TableChanges|Query).*)");

  /** Arguments: the release's jar, which is on the class path too. */
  public static void main(String[] arguments) throws Exception {
    try (JarFile jar = new JarFile(arguments[0])) {
      for (JarEntry entry : Collections.list(jar.entries())) {
        String name = entry.getName();
        if (!name.endsWith(".class") || !READING.matcher(name.substring(0, name.length() - 6)).matches()) continue;
        try (InputStream in = jar.getInputStream(entry)) {
          constants(in.readAllBytes());
        }
      }
    }
    declared(Class.forName("org.apache.hudi.common.config.HoodieReaderConfig"));
    FOUND.forEach(System.out::println);
  }

  /** Reads a class's constants: texts, and the fields and methods of other classes that it names. */
  private static void constants(byte[] bytes) throws Exception {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes, 8, bytes.length - 8));
    int count = in.readUnsignedShort();
    String[] texts = new String[count];
    int[][] pairs = new int[count][];
    for (int i = 1; i < count; i++) {
      int tag = in.readUnsignedByte();
      if (tag == 1) texts[i] = in.readUTF();
      else if (tag == 7 || tag == 8 || tag == 16 || tag == 19 || tag == 20) pairs[i] = new int[] {tag, in.readUnsignedShort()};
      else if (tag == 15) in.skipBytes(3);
      else if (tag == 5 || tag == 6) in.skipBytes(8 * (i++ > 0 ? 1 : 0));
      else if (tag == 3 || tag == 4) in.skipBytes(4);
      else pairs[i] = new int[] {tag, in.readUnsignedShort(), in.readUnsignedShort()};
    }
    for (int[] pair : pairs) {
      if (pair == null) continue;
      if (pair[0] == 8 && KEY.matcher(texts[pair[1]]).matches()) FOUND.add(texts[pair[1]]);
      if (pair[0] < 9 || pair[0] > 11) continue;
      int[] member = pairs[pair[2]];
      if (!texts[member[2]].endsWith("L" + PROPERTY + ";")) continue;
      asked(texts[pairs[pair[1]][1]].replace('/', '.'), texts[member[1]]);
    }
  }

  /** What a class gets as a field of another, or as a method of a Scala object. */
  private static void asked(String owner, String name) throws Exception {
    if (owner.startsWith(PROPERTY.replace('/', '.'))) return;
    Class<?> type = Class.forName(owner);
    try {
      if (owner.endsWith("$")) keys(type.getMethod(name).invoke(type.getField("MODULE$").get(null)));
      else keys(type.getField(name).get(null));
    } catch (ReflectiveOperationException e) {
      // A method of what it has itself, whose option it got from elsewhere.
    }
  }

  private static void declared(Class<?> type) throws Exception {
    for (Field field : type.getFields()) if (field.getType().getName().equals(PROPERTY.replace('/', '.'))) keys(field.get(null));
  }

  private static void keys(Object property) throws Exception {
    if (property == null) return;
    FOUND.add((String) property.getClass().getMethod("key").invoke(property));
    for (Object older : (Collection<?>) property.getClass().getMethod("getAlternatives").invoke(property)) FOUND.add((String) older);
  }
}
