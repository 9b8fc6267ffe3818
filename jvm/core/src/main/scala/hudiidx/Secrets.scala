package hudiidx

/** Passwords in paths, as in `s3a://key:secret@bucket/t`. Paths with one are refused, and told with `***` in its place. Texts
  * come from wherever names do, and may be of any length: each letter is looked at a few times at most.
  */
private[hudiidx] object Secrets {

  def masked(text: String): String =
    if (text == null || !text.contains("://")) text
    else {
      val out = new StringBuilder
      var at = 0
      while (at < text.length) {
        val end = runEnd(text, at, isSpace(text.charAt(at)))
        addWord(text, at, end, out)
        at = end
      }
      out.toString
    }

  private def runEnd(text: String, from: Int, ofSpaces: Boolean): Int = {
    var end = from
    while (end < text.length && isSpace(text.charAt(end)) == ofSpaces) end += 1
    end
  }

  /** A word, with all between the colon behind the user and the last at sign masked. */
  private def addWord(text: String, from: Int, end: Int, out: StringBuilder): Unit = {
    var last = end - 1
    while (last >= from && text.charAt(last) != '@') last -= 1
    val colon = if (last < from) -1 else passwordColon(text, from, end, last)
    if (colon < 0) out.append(text.substring(from, end))
    else out.append(text.substring(from, colon + 1)).append("***").append(text.substring(last, end))
  }

  /** Where a password begins; -1: nowhere. Behind a host a port may follow. */
  private def passwordColon(text: String, from: Int, end: Int, lastAt: Int): Int = {
    var at = from
    var found = -1
    while (found < 0 && at < lastAt) {
      if (!text.startsWith("://", at)) at += 1
      else {
        var user = at + 3
        while (user < end && ":/@".indexOf(text.charAt(user).toInt) < 0) user += 1
        val isColon = user < lastAt && text.charAt(user) == ':'
        if (isColon && hasScheme(text, from, at) && !isPort(text, user + 1, end)) found = user
        at = user
      }
    }
    found
  }

  private def hasScheme(text: String, from: Int, colon: Int): Boolean =
    colon > from && {
      val c = text.charAt(colon - 1)
      isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '.' || c == '-'
    }

  private def isPort(text: String, from: Int, end: Int): Boolean = {
    var at = from
    while (at < end && isDigit(text.charAt(at))) at += 1
    at > from && (at == end || text.charAt(at) == '/')
  }

  private def isSpace(c: Char): Boolean = c == ' ' || (c >= '\t' && c <= '\r')
  private def isDigit(c: Char): Boolean = c >= '0' && c <= '9'

  /** InvalidOption for a path with a password. */
  def refuse(path: String): Unit = if (path.contains('@') && masked(path) != path)
    throw new InvalidOption(
      s"$path: a path with a password in it is told in logs and index files; give credentials as settings of the store, for " +
        "S3 fs.s3a.access.key and fs.s3a.secret.key"
    )
}
