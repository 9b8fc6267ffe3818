package hudiidx.logindex

import hudiidx.bytes.{PackedInput, PackedOutput}
import hudiidx.log.CountedBlock

/** What tells a log block from any other of its file slice.
  *
  * @param file    name of the log file, without folder
  * @param offset  of the block's magic in the file
  * @param instant INSTANT_TIME of the block: a name may come again after a rollback, with other blocks
  */
final case class BlockPlace(file: String, offset: Long, instant: String)

object BlockPlace {

  def of(counted: CountedBlock): BlockPlace =
    BlockPlace(nameOf(counted.file), counted.block.offset, counted.block.instantTime.getOrElse(""))

  private[logindex] def nameOf(path: String): String = path.substring(path.lastIndexOf('/') + 1)

  private[logindex] def folderOf(path: String): String = path.substring(0, path.lastIndexOf('/') + 1)

  private[logindex] def write(out: PackedOutput, places: Vector[BlockPlace]): Unit = {
    out.varint(places.size.toLong)
    val files, instants = new SharedTexts
    places.foreach { p =>
      files.write(out, p.file)
      out.varint(p.offset)
      instants.write(out, p.instant)
    }
  }

  private[logindex] def read(in: PackedInput): Vector[BlockPlace] = {
    val count = in.count(40)
    val files, instants = new SharedTexts
    Vector.fill(count)(BlockPlace(files.read(in), in.varint(), instants.read(in)))
  }
}

/** Texts of which each is what it shares with the one before, and the rest. */
private[logindex] final class SharedTexts {
  private var last = ""

  def write(out: PackedOutput, text: String): Unit = {
    val most = math.min(last.length, text.length)
    var shared = 0
    while (shared < most && last.charAt(shared) == text.charAt(shared)) shared += 1
    // A pair of surrogates stays together: the rest must be UTF-8.
    if (shared > 0 && Character.isHighSurrogate(text.charAt(shared - 1))) shared -= 1
    out.varint(shared.toLong)
    out.string(text.substring(shared))
    last = text
  }

  def read(in: PackedInput): String = {
    val shared = in.varint()
    require(shared >= 0 && shared <= last.length, s"text shares $shared characters with one of ${last.length}")
    last = last.substring(0, shared.toInt) + in.string()
    require(last.length <= SharedTexts.MostChars, s"text of ${last.length} characters")
    last
  }
}

private[logindex] object SharedTexts {

  /** More than names of files have: without a limit texts that share all of long ones before them fill any memory. */
  private val MostChars = 4096
}
