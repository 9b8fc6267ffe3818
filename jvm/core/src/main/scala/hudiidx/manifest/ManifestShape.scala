package hudiidx.manifest

import hudiidx.hfile.{Checksum, Codec, HFileOptions}

/** How a manifest is laid out: chosen from the table's shape, settable for comparison (`hudiidx perf --sweep`).
  *
  *  @param entriesPerPage most file entries of a page; a partition's last call reads whole pages
  *  @param blockBytes     most bytes of an HFile data block before compression
  */
final case class ManifestShape(entriesPerPage: Int, blockBytes: Int, codec: Codec) {
  def hfile: HFileOptions = HFileOptions(codec, blockBytes, Checksum.Crc32c)
}

object ManifestShape {

  /** Files of a partition where nothing is known yet. */
  val UsualFiles = 100L

  private val MinBlockBytes = 4 << 10
  private val MaxBlockBytes = 64 << 10 // above this Hudi's native HFile reader drops cells (format notes §11.2)
  private val BytesPerEntry = 24
  private val SmallTable = 4096L

  /** Deltas are small and rewritten at each update. */
  val delta: HFileOptions = HFileOptions(Codec.Zstd(1), 16 << 10, Checksum.Crc32c)

  /** docs/decisions.md, "Page size and codec", has the figures behind the rule. */
  def choose(files: Long, partitions: Long): ManifestShape = {
    val average = if (partitions == 0) 1L else math.max(1L, files / partitions)
    val entries = math.min(2048L, math.max(256L, java.lang.Long.highestOneBit(average) * 2)).toInt
    val block =
      math.min(MaxBlockBytes, math.max(MinBlockBytes, java.lang.Long.highestOneBit(average * BytesPerEntry * 4).toInt))
    ManifestShape(entries, block, if (files <= SmallTable) Codec.None else Codec.Zstd(3))
  }
}
