package hudiidx

/** Passwords in paths, as in `s3a://key:secret@bucket/t`. Paths with one are refused, and told with `***` in its place. */
private[hudiidx] object Secrets {

  /** Scheme, user, colon, and what follows up to the last at sign; behind a host a port may follow. */
  private val Password = """([A-Za-z][A-Za-z0-9+.-]*://[^/\s:@]*):(?!\d+(?:[/\s]|$))\S*@""".r

  def masked(text: String): String =
    if (text == null || !text.contains("://")) text else Password.replaceAllIn(text, "$1:***@")

  /** InvalidOption for a path with a password. */
  def refuse(path: String): Unit = if (path.contains('@') && masked(path) != path)
    throw new InvalidOption(
      s"$path: a path with a password in it is told in logs and index files; give credentials as settings of the store, for " +
        "S3 fs.s3a.access.key and fs.s3a.secret.key"
    )
}
