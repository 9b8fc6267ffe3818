package hudiidx.record.page

import hudiidx.bytes.{PackedInput, PackedOutput, XxHash64}
import hudiidx.manifest.{NameRenderer, UuidId}
import hudiidx.storage.Storage
import hudiidx.table.FileGroup
import java.nio.charset.StandardCharsets.UTF_8

/** A page of file groups in the order of their ordinals. docs/format.md, "Dictionary segment". Pure. */
private[record] object FileGroupPage {
  private val Version = 1
  private val UuidIds = 1
  private val RandomUuids = 2
  val MaxEntries: Int = 1 << 16

  def encode(groups: IndexedSeq[FileGroup]): Array[Byte] = {
    val n = groups.size
    val out = new PackedOutput(64 + n * 20)
    val paths = groups.map(_.partitionPath).distinct
    val place = paths.zipWithIndex.toMap
    val ids = groups.map(g => UuidId.parse(g.fileId)).toArray
    val uuid = !ids.contains(null)
    val random = uuid && ids.forall(_.isRandom)
    out.byte(Version)
    out.varint(n.toLong)
    out.byte((if (uuid) UuidIds else 0) | (if (random) RandomUuids else 0))
    out.varint(paths.size.toLong)
    paths.foreach(out.string)
    out.column(groups.map(g => place(g.partitionPath).toLong).toArray, n)
    if (uuid) {
      out.bits(ids.map(i => if (random) UuidId.dropVersion(i.high) else i.high), n, 0, if (random) 60 else 64)
      out.bits(ids.map(i => if (random) UuidId.dropVariant(i.low) else i.low), n, 0, if (random) 62 else 64)
      out.column(ids.map(_.suffix), n)
    } else groups.foreach(g => out.string(g.fileId))
    out.toBytes
  }

  /** IllegalArgumentException or IndexOutOfBoundsException for what is no page. */
  def decode(in: PackedInput): Array[FileGroup] = {
    val version = in.byte()
    require(version == Version, s"page version $version, this hudiidx reads $Version")
    val count = in.varint()
    require(count >= 0 && count <= MaxEntries, s"page of $count file groups")
    val n = count.toInt
    val flags = in.byte()
    val paths = Array.fill(in.count(8))(in.string())
    paths.foreach(p => require(!Storage.leaves(p), s"partition '$p' leaves the table"))
    val place = in.column(n)
    val ids = if ((flags & UuidIds) != 0) uuids(in, n, (flags & RandomUuids) != 0) else Array.fill(n)(in.string())
    require(in.remaining == 0, s"${in.remaining} bytes after the page")
    Array.tabulate(n) { i =>
      require(place(i) >= 0 && place(i) < paths.length, s"file group $i has partition ${place(i)} of ${paths.length}")
      FileGroup(paths(place(i).toInt), ids(i))
    }
  }

  private def uuids(in: PackedInput, n: Int, random: Boolean): Array[String] = {
    val high, low = new Array[Long](n)
    in.bits(high, 0, if (random) 60 else 64)
    in.bits(low, 0, if (random) 62 else 64)
    val suffix = in.column(n)
    val render = new NameRenderer
    Array.tabulate(n)(i =>
      if (random) render(UuidId.addVersion(high(i)), UuidId.addVariant(low(i)), suffix(i))
      else render(high(i), low(i), suffix(i))
    )
  }

  /** Upper 32 bits of XXH64 (seed 0) of the partition path, a zero byte and the file id, in UTF-8. */
  def hash(group: FileGroup): Long = {
    val bytes = (group.partitionPath + "\u0000" + group.fileId).getBytes(UTF_8)
    XxHash64.hash(bytes, 0, bytes.length, 0L) >>> 32
  }
}
