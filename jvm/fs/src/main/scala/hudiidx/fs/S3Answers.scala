package hudiidx.fs

import java.io.InputStream

import hudiidx.storage.{FileInfo, Storage}

/** One answer to a request for what lies under a prefix.
  *
  * @param next by which the next page is asked for; None: this is the last one
  */
private[fs] final case class S3Page(entries: Vector[S3Entry], next: Option[String])

/** What an object is, and what of its content was asked for.
  *
  * @param sizeBytes of all of it
  */
private[fs] final case class S3Content(sizeBytes: Long, modifiedMillis: Long, tag: String, content: InputStream) {
  def file(path: String): FileInfo = FileInfo(path, sizeBytes, modifiedMillis, isDirectory = false, tag)
}

/** An object, or what keys have in common up to a slash. */
private[fs] final case class S3Entry(key: String, sizeBytes: Long, modifiedMillis: Long, tag: String) {

  /** As an entry of the folder with this prefix; None for marks of folders, which are not among its files. */
  def under(prefix: String, folder: String): Option[FileInfo] = {
    val isFolder = key.endsWith("/")
    val name = key.stripPrefix(prefix).stripSuffix("/")
    val isMark = name.isEmpty || key.endsWith(S3Entry.OldMark) || (isFolder && tag.nonEmpty)
    if (isMark) None else Some(FileInfo(Storage.join(folder, name), sizeBytes, modifiedMillis, isFolder, tag))
  }
}

private[fs] object S3Entry {

  /** Of folders, by clients of long ago. */
  private val OldMark = "_$folder$"

  /** It has no time, and is never taken for an old one. */
  def folder(prefix: String): S3Entry = S3Entry(prefix, 0L, System.currentTimeMillis(), "")
}
