package hudiidx.store

import hudiidx.{DamagedIndex, IndexNotWritable, InvalidOption, Log, ShellCommand}
import hudiidx.storage.{EndReader, FileInfo, KeptFiles, RandomReader, Storage, UnreadableFile}
import java.io.{FileNotFoundException, IOException, OutputStream}
import java.nio.file.NoSuchFileException
import java.security.SecureRandom

/** The folder of one index: immutable files, and versions that name them. Design §3.1; docs/format.md, "Index folder".
  *
  *  @param dir the index folder, `<table>/.hoodie/hudiidx` unless set by option
  */
final class IndexStore(val storage: Storage, val dir: String) {
  private val log = Log.of(classOf[IndexStore])
  private val versionsDir = Storage.join(dir, IndexNames.Versions)
  private val folder = new IndexFolder(storage, dir)

  /** The highest version that is whole. One that is unreadable, gone or of a later format is skipped. */
  def current(): Current = current(versionFiles())

  /** @param listed as `versionFiles` gives them, a moment ago */
  def current(listed: => Vector[FileInfo]): Current =
    try {
      val looked = look(IndexStore.MostListings, listed)
      if (looked.version.isDefined) looked.failures.foreach(f => log.warn("{}", f.getMessage))
      looked.current(earlier)
    } catch { case e: DamagedIndex => Current.Unreadable(Vector(e.getMessage), isLater = false, None) }

  /** The version that the next one is made of: the current one. DamagedIndex if the versions cannot be listed. */
  def base(): BaseVersion = {
    val looked = look(IndexStore.MostListings, versionFiles())
    BaseVersion(looked.current(earlier), looked.numbers.lastOption.getOrElse(0L) + 1, looked.unread)
  }

  /** What is found from the highest number down. */
  private def look(listings: Int, files: Vector[FileInfo]): LookupResult = {
    val numbers = files.map(numberOf)
    var looked = LookupResult(numbers, None, Vector.empty, None)
    val left = files.reverseIterator
    while (looked.version.isEmpty && left.hasNext) looked = lookAt(left.next(), looked)
    // All that was listed has been expired since, by who published newer ones.
    val isOvertaken = looked.version.isEmpty && looked.failures.isEmpty && numbers.nonEmpty
    if (isOvertaken && listings > 1) look(listings - 1, versionFiles()) else looked
  }

  private def lookAt(file: FileInfo, before: LookupResult): LookupResult =
    try {
      val bytes = reading(file.path)(KeptFiles.readAll(storage, file))
      try before.copy(version = Some(decoded(numberOf(file), bytes)))
      catch { case e: DamagedIndex => before.copy(failures = before.failures :+ e) }
    } catch {
      // Another writer expired it after it was listed.
      case _: NoSuchFileException | _: FileNotFoundException => before
      case e: DamagedIndex                                   =>
        val ofStore = Some(e).filterNot(_.getCause.isInstanceOf[UnreadableFile])
        before.copy(failures = before.failures :+ e, unread = before.unread.orElse(ofStore))
    }

  private def earlier(all: Vector[Long]): Option[IndexVersion] = all.reverseIterator
    .map(versionPath)
    .flatMap { path =>
      try IndexVersion.ofEarlierFormat(storage.readAll(path), path)
      catch { case _: IOException => None }
    }
    .collectFirst { case version => version }

  def read(number: Long): IndexVersion =
    decoded(number, reading(versionPath(number))(storage.readAll(versionPath(number))))

  private def read(file: FileInfo): IndexVersion =
    decoded(numberOf(file), reading(file.path)(KeptFiles.readAll(storage, file)))

  private def decoded(number: Long, bytes: Array[Byte]): IndexVersion = {
    val path = versionPath(number)
    val version = IndexVersion.decode(bytes, path)
    if (version.number != number)
      throw new DamagedIndex(s"$path: holds index version ${version.number}; `hudiidx create` makes a new one")
    version
  }

  /** None if another writer expired it after it was listed. */
  private def readIfThere(file: FileInfo): Option[IndexVersion] =
    try Some(read(file))
    catch { case _: NoSuchFileException | _: FileNotFoundException => None }

  /** Whole versions of lower numbers, the highest first. */
  def before(number: Long): Iterator[IndexVersion] =
    versionFiles().reverseIterator.filter(numberOf(_) < number).flatMap { file =>
      try readIfThere(file)
      catch { case _: DamagedIndex => None }
    }

  /** Numbers of all version files, ascending, whole or not. */
  def versionNumbers(): Vector[Long] = versionFiles().map(numberOf)

  /** The number that the next version takes: above every file that is there, damaged ones included. */
  def nextNumber(): Long = versionNumbers().lastOption.getOrElse(0L) + 1

  /** False if another writer took this number first. */
  def publish(version: IndexVersion): Boolean = {
    val path = versionPath(version.number)
    if (!IndexNames.isVersion(path.substring(path.lastIndexOf('/') + 1)))
      throw new DamagedIndex(
        s"${versionPath(version.number - 1)}: the last number that a version may have, and no index has so many; remove the file, " +
          "then run `hudiidx update`"
      )
    val isFirst = writing(path)(storage.publish(path, IndexVersion.encode(version)))
    if (!isFirst && writing(path)(storage.status(path)).exists(_.isDirectory))
      throw new IndexNotWritable(
        s"$path: a folder, where the file of an index version is to be; remove it, then run `hudiidx update`"
      )
    isFirst
  }

  /** Opens a file that a version names; DamagedIndex if it is gone, cannot be read, or has another size. */
  def openWhole(file: IndexFile): RandomReader =
    IndexFileHandle.open(storage, Storage.join(dir, file.name), file.sizeBytes)

  /** Opens a file that `writeScratch` made, by the size that it told: who made it has the end of it. */
  def openScratch(file: IndexFile): RandomReader = {
    val path = Storage.join(dir, file.name)
    if (storage.isFar(path)) KeptEnds.reader(storage, path, file.sizeBytes) else storage.open(path)
  }

  /** Reads what opening these files takes, all at once where the store is far; nothing elsewhere. What is wrong with one is found out
    * when it is opened.
    */
  def fetchEnds(files: Vector[IndexFile]): Unit =
    if (storage.isFar(dir))
      storage.atOnce(dir)(
        files.map(f => () => IndexFileHandle.fetchEnd(storage, Storage.join(dir, f.name), f.sizeBytes))
      ): Unit

  /** Those that are gone or cut short, by one listing of the folder. DamagedIndex if it cannot be listed. */
  def missing(files: Vector[IndexFile]): Vector[IndexFile] = missing(files, list())

  def missing(files: Vector[IndexFile], listed: Vector[FileInfo]): Vector[IndexFile] = {
    val there = listed.iterator.map(f => f.name -> f.sizeBytes).toMap
    files.filterNot(f => there.get(f.name).contains(f.sizeBytes))
  }

  /** What is in the index folder. DamagedIndex if it cannot be listed. */
  def list(): Vector[FileInfo] = reading(dir)(storage.list(dir))

  /** DamagedIndex if one of the files is gone or cut short, see `missing`. */
  def requireFiles(files: Vector[IndexFile]): Unit = requireFiles(files, list())

  def requireFiles(files: Vector[IndexFile], listed: Vector[FileInfo]): Unit =
    missing(files, listed).headOption.foreach { f =>
      throw new DamagedIndex(s"$dir/${f.name}: the file is gone or cut short; `hudiidx create` makes a new index")
    }

  /** Writes an immutable file; `kind` says what it is in the version that names it. What `content` throws of its own
    *  (it may be reading the table) comes through as it is.
    */
  def write(name: String, kind: String)(content: OutputStream => Unit): IndexFile =
    write(name, kind, storage.writeOnce(_)(_), content)

  /** As `write`, of a file that no version names and that is checked when it is read: see [[Storage.writeScratch]]. */
  def writeScratch(name: String, kind: String)(content: OutputStream => Unit): IndexFile =
    write(name, kind, storage.writeScratch(_)(_), content)

  private def write(
      name: String,
      kind: String,
      writer: (String, OutputStream => Unit) => Unit,
      content: OutputStream => Unit
  ): IndexFile = {
    // A file that goes by no name of ours would never be removed.
    require(IndexNames.isFile(name.substring(name.lastIndexOf('/') + 1)), s"$name: no name of a file of an index")
    val path = Storage.join(dir, name)
    var written = Option.empty[CountingOutput]
    def counting(out: OutputStream): Unit = {
      val counted = new CountingOutput(out, if (storage.isFar(path)) EndReader.EndBytes else 0)
      try content(counted)
      catch { case e: IOException if !counted.failed => throw new ContentFailure(e) }
      counted.flush()
      written = Some(counted)
    }
    try writing(path)(writer(path, counting))
    catch { case e: ContentFailure => throw e.failure }
    written.flatMap(_.whole).foreach(KeptEnds.keep(path, _))
    IndexFile(name, kind, written.fold(0L)(_.count))
  }

  /** Removes a file that was written here. */
  def delete(file: IndexFile): Unit = writing(Storage.join(dir, file.name))(folder.removeFile(file.name))

  /** As [[IndexFolder.requireOwn]]. */
  def requireOwn(tablePath: String): Unit = folder.requireOwn(tablePath)

  /** InvalidOption if the folder holds no index, and what is not of one. */
  def requireUnused(): Unit = writing(dir)(folder.others()).headOption.foreach { name =>
    if (versionNumbers().isEmpty)
      throw new InvalidOption(
        s"$dir: the folder holds no index but other files ($name); set hudiidx.index.path to one that is empty or not there"
      )
  }

  /** As [[IndexFolder.workFolder]]. */
  def workFolder(name: String): String = writing(Storage.join(dir, name))(folder.workFolder(name))

  /** Removes a file below the index folder. */
  def remove(name: String): Unit = writing(Storage.join(dir, name))(folder.remove(name)): Unit

  /** As [[IndexFolder.removeMade]]. */
  def removeMade(name: String): Unit = writing(Storage.join(dir, name))(folder.removeMade(name)): Unit

  /** As [[IndexFolder.removeAny]]; IOException if that fails. */
  def removeAny(path: String): Unit = folder.removeAny(path): Unit

  private def reading[A](path: String)(body: => A): A =
    try body
    catch {
      case e @ (_: NoSuchFileException | _: FileNotFoundException) => throw e
      case e: IOException => throw new DamagedIndex(s"$path: cannot be read ($e); check the index folder", e)
    }

  private def writing[A](path: String)(body: => A): A =
    try body
    catch {
      case e: IOException => throw IndexStore.notWritable(path, e)
    }

  /** Removes all work folders: what somebody is making there is made again. */
  def removeWork(): Unit = writing(dir) {
    storage
      .list(dir)
      .filter(f => f.isDirectory && IndexNames.isWorkFolder(f.name))
      .foreach(f => folder.removeWork(f.name))
  }

  /** Removes the index, and its folder if nothing else is in it; false if there was none. */
  def drop(): Boolean = writing(dir)(folder.drop())

  /** Removes versions beyond the newest `rule.retained` that were replaced long enough ago, then files that no remaining
    *  version names and work folders in which nothing was written, both for longer than any running writer takes. Returns the names removed.
    *
    *  @param current number of the version in use: it stays, also when newer damaged ones fill the places
    *  @param isBarred versions that stay only as long as a reader may have them open, as do the files that they alone name
    *  @param known    the version in use, where it was read or published a moment ago
    */
  def expire(
      current: Long,
      rule: Retention,
      nowMillis: Long,
      isBarred: Option[IndexVersion => Boolean] = None,
      known: Option[IndexVersion] = None
  ): Vector[String] = {
    val (versions, listed) = Storage.both(storage, dir)(storage.list(versionsDir), storage.list(dir))
    val (files, strange) = versions.partition(isVersion)
    val barred = isBarred.toVector.flatMap(is => files.filter(f => numberOf(f) < current && versionOf(f).exists(is)))
    val newest = files.takeRight(math.max(1, rule.retained)).diff(barred).map(numberOf).toSet + current
    // A reader opens the newest, so a version's time begins to run out when the next one comes.
    val replaced = files.zip(files.drop(1)).map { case (f, next) => f.path -> next.modifiedMillis }.toMap
    val (old, kept) =
      files.partition(f => !newest(numberOf(f)) && replaced.get(f.path).exists(nowMillis - _ >= rule.minAgeMillis))
    // What was written before the first version that is not barred serves no writer any more: it is made again, by the new rule.
    val ruledAt = barred.lastOption.flatMap(b => files.find(numberOf(_) > numberOf(b))).map(_.modifiedMillis)
    def isOver(millis: Long): Boolean = nowMillis - millis >= rule.orphanAgeMillis || ruledAt.exists(millis < _)
    deleteAll(old)
    val names = storage.atOnce(dir)(kept.map(file => () => known.filter(isOf(file)).orElse(versionOf(file))))
    val named = names.flatten.flatMap(_.files.map(_.name)).toSet
    // None can be told of a version that cannot be read now, or by this release, or that another writer has expired since it was
    // listed: what has taken its place may name the same files.
    val others = if (names.forall(_.isDefined)) listed.filterNot(f => named(f.name)) else Vector.empty
    // A killed writer's temporary files may stand beside versions too.
    val orphans = (strange ++ others).filter { f =>
      !f.isDirectory && IndexNames.isFile(f.name) && isOver(f.modifiedMillis)
    }
    val idle = others.filter { f =>
      f.isDirectory && IndexNames.isWorkFolder(f.name) && isOver(lastWrite(f))
    }
    deleteAll(orphans)
    idle.foreach(f => folder.removeWork(f.name))
    (old ++ orphans ++ idle).map(_.name)
  }

  private def deleteAll(files: Vector[FileInfo]): Unit =
    storage.atOnce(dir)(files.map(f => () => storage.deleteFile(f.path))): Unit

  /** Stores without folders give these no time of their own, so the files in them count. */
  private def lastWrite(folder: FileInfo): Long = {
    val files = storage.list(folder.path)
    if (files.isEmpty) folder.modifiedMillis else files.map(_.modifiedMillis).max
  }

  private def isOf(file: FileInfo)(version: IndexVersion): Boolean =
    version.number == numberOf(file) && IndexVersion.encode(version).length == file.sizeBytes

  private def versionOf(versionFile: FileInfo): Option[IndexVersion] =
    try readIfThere(versionFile)
    catch { case _: DamagedIndex => None }

  /** All version files, by ascending number, whole or not. */
  def versionFiles(): Vector[FileInfo] =
    reading(versionsDir)(storage.list(versionsDir)).filter(isVersion)

  private def isVersion(f: FileInfo): Boolean =
    !f.isDirectory && IndexNames.isVersion(f.name)

  private def numberOf(f: FileInfo): Long = f.name.stripSuffix(".json").toLong

  private def versionPath(number: Long): String = Storage.join(versionsDir, f"$number%020d.json")
}

/** How long index versions are kept, in milliseconds.
  *
  *  @param retained        newest versions that stay whatever their age
  *  @param minAgeMillis    a version that was replaced less than this ago stays: a reader may have it open
  *  @param orphanAgeMillis a file that no version names stays this long: its writer may be about to publish, and must not take
  *                         longer
  */
final case class Retention(retained: Int, minAgeMillis: Long, orphanAgeMillis: Long)

object IndexStore {

  /** Times that the folder is listed, each of which may be overtaken. */
  private val MostListings = 10

  private val TokenAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"
  private val random = new SecureRandom

  /** Folder of the index below a table unless an option says otherwise. */
  def defaultDir(tablePath: String): String = Storage.join(tablePath, ".hoodie/hudiidx")

  /** A call of a command for the table, with the index folder where that is not the table's own: for what messages tell to run.
    *
    * @param more what stands behind the table
    */
  def command(name: String, tablePath: String, dir: String, more: String*): ShellCommand = {
    val options = if (dir == defaultDir(tablePath)) Vector.empty else Vector("--index-path" -> dir)
    ShellCommand(name, tablePath +: more.toVector, options)
  }

  private[store] def notWritable(path: String, e: IOException): IndexNotWritable = new IndexNotWritable(
    s"$path: cannot be written or removed ($e); make room in the folder or make it writable, or set hudiidx.index.path to " +
      "a folder elsewhere",
    e
  )

  /** Part of a file name that no other writer uses: 10 characters, 50 random bits. */
  def newToken(): String = {
    val bytes = new Array[Byte](10)
    random.nextBytes(bytes)
    new String(bytes.map(b => TokenAlphabet.charAt(b & 31)))
  }
}
