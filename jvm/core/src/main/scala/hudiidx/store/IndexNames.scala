package hudiidx.store

/** The names that hudiidx gives to what it puts into an index folder. What has another name is somebody else's, and is never
  * removed, whatever it is and wherever it lies. docs/format.md, "Index folder".
  */
object IndexNames {
  val Versions = "versions"
  val Scans = "scans"
  val SymlinkManifests = "symlink_manifest"
  val RecordBuild = "record-build"
  val RecordUpdate = "record-update-"
  val RecordVerify = "record-verify-"
  val ColumnBuild = "column-build-"

  /** What `verify` tries its folder with. */
  val Probe = "probe"

  /** As `IndexStore.newToken` makes them. */
  private val Token = "[0-9a-hjkmnp-tv-z]{10}"
  private val Instant = "[0-9A-Za-z]+"
  private val Uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
  private val VersionFile = """\d{20}\.json"""
  private val Hashes = "[0-9a-f]{8}-[0-9a-f]{8}"

  private val files = Vector(
    s"$Instant\\.$Token\\.(master_manifest|_partition_\\.idx|log_index|column_stats|column_records)",
    s"${Instant}_$Instant\\.$Token\\.delta_manifest",
    s"\\d+\\.$Token\\.\\d{1,3}\\.building",
    s"$Hashes\\.$Instant\\.$Token\\.(record_base|record_delta)",
    s"\\d+\\.$Instant\\.$Token\\.record_groups",
    s"doctor\\.$Token",
    // In folders.
    VersionFile,
    s"\\d+\\.$Token\\.\\d+\\.json",
    s"\\d+(-\\d+)?\\.$Token\\.record_run",
    s"$Token\\.plan\\.json",
    Probe
  ).mkString("(", "|", ")")

  /** A greater number is of no version. */
  private val version = """00\d{18}\.json""".r.pattern
  private val file = files.r.pattern

  /** Files that have not got their name yet, of writers that were killed. */
  private val unfinished = s"\\.($files\\.$Uuid\\.tmp|$Uuid\\.$Uuid\\.claim)".r.pattern
  private val workFolder = s"$RecordBuild|($RecordUpdate|$RecordVerify)$Token|$ColumnBuild[0-9a-z]{1,16}".r.pattern

  def isVersion(name: String): Boolean = version.matcher(name).matches

  /** A file of the index folder, or of a folder in it: whole, or not yet. */
  def isFile(name: String): Boolean = file.matcher(name).matches || unfinished.matcher(name).matches

  /** A folder with files that serve only the making of a version, or a comparison. */
  def isWorkFolder(name: String): Boolean = workFolder.matcher(name).matches

  /** One with a token in its name: of one process. */
  def isMade(name: String): Boolean =
    isWorkFolder(name) && (name.startsWith(RecordUpdate) || name.startsWith(RecordVerify))

  def isFolder(name: String): Boolean =
    name == Versions || name == Scans || name == SymlinkManifests || isWorkFolder(name)

  /** What an export of symlink manifests makes: in folders of its own. */
  def isOfSymlinks(name: String): Boolean = ofSymlinks.matcher(name).matches

  val SymlinkManifest = "manifest"

  /** Hidden from Hive and those that go by its rules. */
  val SymlinkState = "_hudiidx_symlink.json"
  private val ofSymlinks = s"$SymlinkManifest|$SymlinkState|\\.($SymlinkManifest|$SymlinkState)\\.$Uuid\\.tmp".r.pattern

  /** Each pattern with a name that it takes, for tests: names in a folder are others' input. */
  private[hudiidx] def patterns: Vector[(java.util.regex.Pattern, String)] = {
    val uuid = "0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f"
    Vector(
      version -> s"${"0" * 19}7.json",
      file -> "20260102.0123456789.column_stats",
      unfinished -> s".2026_2027.0123456789.delta_manifest.$uuid.tmp",
      workFolder -> s"${RecordUpdate}0123456789",
      ofSymlinks -> s".$SymlinkState.$uuid.tmp"
    )
  }
}
