package hudiidx.storage

import java.io.IOException

/** What lies in the place of a file can be read by nobody, now or later: another attempt does not help, as it may behind an error of the
  * store.
  */
final class UnreadableFile(message: String) extends IOException(message)
