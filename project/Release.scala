import sbt._

/** The release that is built. */
object Release {

  /** The release, which one line of the Python package gives to all. */
  def version(root: File): String = {
    val home = root / "python" / "hudiidx" / "_version.py"
    "__version__ = \"(.+)\"".r.findFirstMatchIn(IO.read(home)).fold(sys.error(s"$home has no __version__"))(_.group(1))
  }

  /** A source that tells the classes. */
  def source(folder: File, version: String): File = {
    val file = folder / "hudiidx" / "BuildInfo.scala"
    val text =
      s"""package hudiidx
         |
         |/** The release of hudiidx, from python/hudiidx/_version.py. */
         |object BuildInfo { val Version: String = "$version" }
         |""".stripMargin
    if (!file.exists || IO.read(file) != text) IO.write(file, text)
    file
  }
}
