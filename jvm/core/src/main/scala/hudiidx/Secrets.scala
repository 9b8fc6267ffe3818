package hudiidx

/** Secrets in texts: passwords in paths, as in `s3a://key:secret@bucket/t`, and keys in queries of URLs and connection strings, as in
  * `?sig=secret`. They are told with `***` in their place, and paths with a password refused. Texts come from wherever names do, and may
  * be of any length: each letter is looked at a few times at most. As `_text.py` has it; tests/fixtures/masked-texts.json has the cases.
  */
private[hudiidx] object Secrets {

  /** What bears a secret behind `?`, `&`, `;` or `#`: elsewhere these may be names of columns, in paths of partitions. */
  private[hudiidx] val InQueries: Set[String] = Set(
    "sig",
    "signature",
    "token",
    "access_token",
    "refresh_token",
    "id_token",
    "session_token",
    "sessiontoken",
    "auth_token",
    "sas",
    "sas_token",
    "secret",
    "client_secret",
    "secret_key",
    "secretkey",
    "api_key",
    "apikey",
    "password",
    "passwd",
    "pwd"
  )

  /** What does so wherever it stands. */
  private[hudiidx] val Anywhere: Set[String] = Set(
    "accountkey",
    "sharedaccesskey",
    "sharedaccesssignature",
    "x-amz-signature",
    "x-amz-security-token",
    "x-amz-credential",
    "x-goog-signature",
    "x-goog-credential"
  )

  private val Longest = (InQueries ++ Anywhere).map(_.length).max

  /** Twice is as once. */
  def masked(text: String): String =
    if (text == null) text
    else {
      val some = paths(text)
      if (some.indexOf('=') < 0) some
      else {
        val fewer = withoutKeys(some)
        if (fewer == some) some else paths(fewer)
      }
    }

  private def paths(text: String): String = if (text.contains("://")) withoutPasswords(text) else text

  /** InvalidOption for a path with a password. */
  def refuse(path: String): Unit = if (path.contains('@') && paths(path) != path)
    throw new InvalidOption(
      s"$path: a path with a password in it is told in logs and index files; give credentials as settings of the store, for " +
        "S3 fs.s3a.access.key and fs.s3a.secret.key"
    )

  /** All between the colon behind a user and an at sign: the last one of the word, or of the words behind it up to the next path. */
  private[hudiidx] def withoutPasswords(text: CharSequence): String = {
    val out = new java.lang.StringBuilder
    var at = 0
    while (at < text.length) {
      val end = runEnd(text, at, isSpace(text.charAt(at)))
      if (!holdsScheme(text, at, end)) {
        out.append(text, at, end): Unit
        at = end
      } else at = addPath(text, at, end, out)
    }
    out.toString
  }

  /** Adds a word with `://` in it, and words behind it that are of its password; where it ended. */
  private def addPath(text: CharSequence, from: Int, end: Int, out: java.lang.StringBuilder): Int = {
    val last = lastAt(text, from, regionEnd(text, end))
    val colon = passwordColon(text, from, end, lastAt(text, from, end), last)
    if (colon < 0) {
      out.append(text, from, end): Unit
      end
    } else {
      val wordEnd = runEnd(text, last, ofSpaces = false)
      out.append(text, from, colon + 1).append("***").append(text, last, wordEnd): Unit
      wordEnd
    }
  }

  /** Where the next word with `://` begins, or the text ends. */
  private def regionEnd(text: CharSequence, from: Int): Int = {
    var at = from
    var found = -1
    while (found < 0 && at < text.length) {
      val word = runEnd(text, at, ofSpaces = true)
      val end = runEnd(text, word, ofSpaces = false)
      if (holdsScheme(text, word, end)) found = word
      at = end
    }
    if (found < 0) text.length else found
  }

  /** Where a password begins; -1: nowhere. Behind a host a port may follow, and behind a path a colon and what is told of it.
    *
    * @param inWord the last at sign of the word
    * @param last   that of the words behind it too
    */
  private def passwordColon(text: CharSequence, from: Int, end: Int, inWord: Int, last: Int): Int = {
    var at = from
    var found = -1
    while (found < 0 && at < end && at < last) {
      if (!isScheme(text, at, end)) at += 1
      else {
        var user = at + 3
        while (user < end && ":/@?#".indexOf(text.charAt(user).toInt) < 0) user += 1
        if (user < end && text.charAt(user) == ':' && hasName(text, from, at)) {
          val digits = runOfDigits(text, user + 1, end)
          val isPort = digits > user + 1 && (digits == end || text.charAt(digits) == '/')
          val isTold = digits == end || (digits == end - 1 && !isLetter(text.charAt(digits)))
          if (!isPort && (user < inWord || (user < last && !isTold))) found = user
        }
        at = user
      }
    }
    found
  }

  /** The values of names that bear secrets. */
  private[hudiidx] def withoutKeys(text: CharSequence): String = {
    val out = new java.lang.StringBuilder
    var kept = 0
    var at = 0
    while (at < text.length) {
      if (text.charAt(at) == '=' && bearsSecret(text, at)) {
        val end = valueEnd(text, at + 1)
        if (end > at + 1) out.append(text, kept, at + 1).append("***"): Unit
        else out.append(text, kept, end): Unit
        kept = end
        at = end
      } else at += 1
    }
    out.append(text, kept, text.length).toString
  }

  private def bearsSecret(text: CharSequence, equals: Int): Boolean = {
    var from = equals
    while (from > 0 && equals - from <= Longest && isOfName(text.charAt(from - 1))) from -= 1
    val name = text.subSequence(from, equals).toString.toLowerCase(java.util.Locale.ROOT)
    Anywhere(name) || (from > 0 && "?&;#".indexOf(text.charAt(from - 1).toInt) >= 0 && InQueries(name))
  }

  private def valueEnd(text: CharSequence, from: Int): Int = {
    var end = from
    while (end < text.length && !isSpace(text.charAt(end)) && "&;,'\"`)]}<>#".indexOf(text.charAt(end).toInt) < 0)
      end += 1
    end
  }

  private def runEnd(text: CharSequence, from: Int, ofSpaces: Boolean): Int = {
    var end = from
    while (end < text.length && isSpace(text.charAt(end)) == ofSpaces) end += 1
    end
  }

  private def runOfDigits(text: CharSequence, from: Int, end: Int): Int = {
    var at = from
    while (at < end && isDigit(text.charAt(at))) at += 1
    at
  }

  private def lastAt(text: CharSequence, from: Int, end: Int): Int = {
    var at = end - 1
    while (at >= from && text.charAt(at) != '@') at -= 1
    if (at < from) -1 else at
  }

  private def holdsScheme(text: CharSequence, from: Int, end: Int): Boolean = {
    var at = from
    while (at < end && !isScheme(text, at, end)) at += 1
    at < end
  }

  private def isScheme(text: CharSequence, at: Int, end: Int): Boolean =
    at + 2 < end && text.charAt(at) == ':' && text.charAt(at + 1) == '/' && text.charAt(at + 2) == '/'

  /** Is there a name of a scheme before the colon? */
  private def hasName(text: CharSequence, from: Int, colon: Int): Boolean = colon > from && {
    val c = text.charAt(colon - 1)
    isLetter(c) || "+.-".indexOf(c.toInt) >= 0
  }

  private def isOfName(c: Char): Boolean = isLetter(c) || c == '_' || c == '-'
  private def isLetter(c: Char): Boolean = isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
  private def isSpace(c: Char): Boolean = c == ' ' || (c >= '\t' && c <= '\r')
  private def isDigit(c: Char): Boolean = c >= '0' && c <= '9'
}
