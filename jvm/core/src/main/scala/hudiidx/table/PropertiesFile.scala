package hudiidx.table

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, IOException}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.NoSuchFileException
import java.util.Properties
import java.util.zip.CRC32

import scala.collection.JavaConverters._

import hudiidx.RecentlyUsed
import hudiidx.bytes.Bytes
import hudiidx.storage.{FileStamp, Storage}
import hudiidx.{DamagedTable, NotAHudiTable, WriteConflict}

/** Reads hoodie.properties, and replaces it, the way writers do: copy to the backup, delete, write anew, delete the backup.
  *  So the file may be absent or cut short for a moment, and the backup is then whole. Format notes §1.2.
  */
private[hudiidx] object PropertiesFile {
  private val BackupSuffix = ".backup"
  private val Tries = 4

  val DefaultPause: Int => Unit = attempt => Thread.sleep(50L * attempt)

  /** The file that was read, and its properties. */
  def read(storage: Storage, tablePath: String, pause: Int => Unit): (String, Map[String, String]) = {
    val main = TableConfig.propertiesFile(tablePath)
    var found = load(storage, main, tablePath)
    var attempt = 1
    while (found.isLeft && attempt < Tries) {
      pause(attempt)
      found = load(storage, main, tablePath)
      attempt += 1
    }
    found match {
      case Right(read)  => read
      case Left(Absent) =>
        throw new NotAHudiTable(
          s"$main: there is no such file; restore it from a backup, or give the base path of a Hudi table"
        )
      case Left(reason) => throw new DamagedTable(s"$main: $reason; restore the file from a backup")
    }
  }

  /** Puts in the place of the properties what `change` makes of them; does nothing if that is the same. Who stops half-way
    * leaves a backup by which readers, and the next writer, go on. One writer at a time: WriteConflict for what shows another.
    */
  def update(store: Storage, tablePath: String)(change: Map[String, String] => Map[String, String]): Unit = {
    val storage = TableFolder.of(store, tablePath)
    val main = TableConfig.propertiesFile(tablePath)
    val backup = main + BackupSuffix
    recover(storage, main, backup)
    val (_, old) = read(storage, tablePath, DefaultPause)
    val changed = change(old)
    if (changed != old) {
      put(storage, backup, text(old))
      storage.delete(main)
      put(storage, main, text(changed))
      storage.delete(backup): Unit
    }
  }

  /** Puts others in the place of the properties, in one step, so that several may do it at once for each other; does nothing where
    * they have the same value of `property` already.
    *
    * @param content as `text` gives it
    */
  def become(storage: Storage, tablePath: String, content: Array[Byte], property: String): Unit = {
    val wanted =
      parse(content).fold(why => throw new DamagedTable(s"$tablePath: properties of a write: $why"), _.get(property))
    if (read(storage, tablePath, DefaultPause)._2.get(property) != wanted)
      TableFolder.of(storage, tablePath).replace(TableConfig.propertiesFile(tablePath), content)
  }

  /** A store that is sent the same twice says no, too. */
  private def put(storage: Storage, file: String, content: Array[Byte]): Unit = {
    def isThere =
      try java.util.Arrays.equals(storage.readAll(file), content)
      catch { case _: NoSuchFileException => false }
    if (!storage.publish(file, content) && !isThere)
      throw new WriteConflict(s"$file: another writer is replacing the table's properties; write again")
  }

  /** Ends what another update left. */
  private def recover(storage: Storage, main: String, backup: String): Unit = {
    if (loadOne(storage, main).isLeft) loadOne(storage, backup).foreach { properties =>
      storage.delete(main)
      storage.publish(main, text(properties))
    }
    if (loadOne(storage, main).isRight) storage.delete(backup): Unit
  }

  /** As java.util.Properties reads it. */
  def text(properties: Map[String, String]): Array[Byte] = {
    val all = new Properties
    properties.foreach { case (k, v) => all.setProperty(k, v) }
    val out = new ByteArrayOutputStream
    all.store(out, "Properties of a Hudi table")
    out.toByteArray
  }

  private type Loaded = Either[String, (String, Map[String, String])]

  /** The file or else its backup; when neither serves, what is wrong with the one that is there. */
  private def load(storage: Storage, main: String, tablePath: String): Loaded = loadOne(storage, main) match {
    case Right(properties) => Right((main, properties))
    case Left(reason)      =>
      val backup = main + BackupSuffix
      loadOne(storage, backup) match {
        case Right(properties) => Right((backup, properties))
        case Left(Absent)      =>
          if (reason == Absent) requireTableFolder(storage, tablePath)
          Left(reason)
        case Left(backupReason) =>
          Left(if (reason == Absent) s"absent, and the backup is unusable: $backupReason" else reason)
      }
  }

  private val Absent = "absent"

  /** Without `.hoodie` the path is no table, and waiting for a writer is pointless. */
  private def requireTableFolder(storage: Storage, tablePath: String): Unit =
    if (storage.status(Storage.join(tablePath, TableConfig.HoodieFolder)).isEmpty)
      throw new NotAHudiTable(tableAbove(storage, tablePath) match {
        case Some(table) =>
          s"$tablePath: a path inside the Hudi table $table; give that base path, and filter by _hoodie_partition_path, or by _file, " +
            "for a part of the table"
        case None if storage.status(tablePath).isEmpty =>
          s"$tablePath: there is nothing at this path; check the table's path"
        case None =>
          s"$tablePath: not a Hudi table, it has no .hoodie folder; give the base path of a Hudi table"
      })

  /** The table in which a folder, or a pattern of such, lies: stock Hudi's reader takes those too. */
  private def tableAbove(storage: Storage, path: String): Option[String] =
    Storage.above(path).find(p => storage.status(Storage.join(p, TableConfig.HoodieFolder)).isDefined)

  /** Left: why the file cannot be used. */
  private def loadOne(storage: Storage, file: String): Either[String, Map[String, String]] =
    try if (storage.isFar(file)) KnownProperties.read(storage, file) else parse(storage.readAll(file))
    catch {
      case _: NoSuchFileException => Left(Absent)
      case e: IOException         =>
        throw new NotAHudiTable(
          s"$file: cannot be read (${e.getClass.getSimpleName}: ${e.getMessage}); check the path",
          e
        )
    }

  /** Pure: a table's properties, or what is wrong with them. */
  def parse(content: Array[Byte]): Either[String, Map[String, String]] =
    decode(content).flatMap(check(_, content.length))

  /** Pure: as java.util.Properties reads any file of them, or why it does not. The one place that does: what files of others hold may
    * be malformed.
    */
  def decode(content: Array[Byte]): Either[String, Map[String, String]] =
    if (content.length > MostBytes) Left(s"it has ${content.length} bytes, and no properties file has so many")
    else {
      val loaded = new Counted
      try {
        loaded.load(new ByteArrayInputStream(content))
        if (loaded.count > MostProperties)
          Left(s"it has ${loaded.count} properties, and $MostProperties are the most that are read")
        else Right(loaded.stringPropertyNames.asScala.map(name => name -> loaded.getProperty(name)).toMap)
      } catch { case e: IllegalArgumentException => Left(s"it is not a properties file (${e.getMessage})") }
    }

  /** Java's reader takes some times the memory of the longest value. The schema of a table of thousands of columns has a megabyte. */
  private val MostBytes = 16 << 20

  /** Stock Hudi's releases know some dozens. Who writes goes through all of them several times. */
  private val MostProperties = 10000

  /** Keeps none beyond the most, and counts them. */
  private final class Counted extends Properties {
    private var passed = 0

    def count: Int = size + passed

    override def put(name: Object, value: Object): Object =
      if (size < MostProperties || containsKey(name)) super.put(name, value)
      else {
        passed += 1
        value
      }
  }

  private def check(properties: Map[String, String], sizeBytes: Int): Either[String, Map[String, String]] =
    if (!properties.contains("hoodie.table.name"))
      Left(s"no hoodie.table.name among the ${properties.size} properties of its $sizeBytes bytes")
    else {
      val stored = properties.get("hoodie.table.checksum").map(_.trim)
      val computed = checksum(properties).toString
      if (stored.exists(_ != computed))
        Left(s"hoodie.table.checksum is ${stored.get} but the table's name gives $computed")
      else Right(properties)
    }

  /** CRC-32 of `<database>.<table>`: covers the names only. */
  private def checksum(properties: Map[String, String]): Long = {
    val crc = new CRC32
    val database = properties.getOrElse("hoodie.database.name", "")
    crc.update(s"$database.${properties("hoodie.table.name")}".getBytes(UTF_8))
    crc.getValue
  }
}

/** Properties of tables on stores that are far, by the content that they were read from, as the store's tag names it: where that is
  * the same a look at the file tells all.
  */
private[hudiidx] object KnownProperties {
  private val MostTables = 1000L
  private val known = new RecentlyUsed[String, Known](MostTables)(_ => 1L)

  /** As `PropertiesFile.parse` of what is in the file. */
  def read(storage: Storage, file: String): Either[String, Map[String, String]] = {
    val before = known.get(file)
    val isSame = before != null && storage.status(file).exists(_.stamp == before.stamp)
    if (isSame) Right(before.properties) else readAnew(storage, file)
  }

  /** What they were when they were last read; no more than a guess. */
  def last(file: String): Option[Map[String, String]] = Option(known.get(file)).map(_.properties)

  /** Which file it was that these very properties were read from; None if that is not known. */
  def stampOf(file: String, properties: Map[String, String]): Option[FileStamp] =
    Option(known.get(file)).filter(_.properties eq properties).map(_.stamp)

  private def readAnew(storage: Storage, file: String): Either[String, Map[String, String]] = {
    val reader = storage.open(file)
    try {
      val found = PropertiesFile.parse(Bytes.ofBuffer(reader.read(0L, Storage.requireWhole(file, reader.sizeBytes))))
      if (reader.stamp.tag.nonEmpty) found.foreach(properties => known.put(file, Known(reader.stamp, properties)))
      found
    } finally reader.close()
  }

  /** Forgets all, as a process that begins. */
  def clear(): Unit = known.clear()

  private case class Known(stamp: FileStamp, properties: Map[String, String])
}
