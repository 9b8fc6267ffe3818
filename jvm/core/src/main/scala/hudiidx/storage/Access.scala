package hudiidx.storage

/** Who may do what with a file or folder, as far as its store knows: POSIX modes, those of HDFS.
  *
  *  @param mode  nine bits, `rwxrwxrwx`, of owner, group and others
  *  @param group whose the middle three are
  *  @param named entries of an access control list beyond these, as texts
  */
final case class Access(mode: Int, group: String, named: Set[String] = Set.empty) {

  /** As `ls` writes it. */
  def text: String = Integer.toOctalString(Access.Folder | mode).takeRight(3)

  /** The same with another group, which has what others have here. */
  def of(another: String): Access =
    if (another == group) this else Access((mode & Access.Owner) | ((mode & 7) << 3) | (mode & 7), another, named)

  /** No more than both. */
  def and(other: Access): Access = copy(mode = mode & other.of(group).mode, named = named & other.named)

  /** Somebody else than the owner has rights here that he lacks there. */
  def isMoreOpenThan(other: Access): Boolean =
    (mode & ~other.of(group).mode & Access.NotOwner) != 0 || (named -- other.named).nonEmpty
}

object Access {
  private val Folder = 0x1000
  private val NotOwner = 0x3f
  private val Owner = 0x1c0

  /** What a folder may be if files in it may be read and written by these: who reads them may list it. */
  def ofFolder(fileMode: Int): Int = fileMode | ((fileMode & 0x124) >> 2)
}
