package hudiidx.table

import hudiidx.DamagedTable
import hudiidx.fuzz.FuzzTarget
import hudiidx.hfile._
import hudiidx.storage.BytesReader
import hudiidx.table.listing.{MetadataLayer, MetadataTableListing}
import java.io.ByteArrayOutputStream
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64

/** A record of the metadata table's `files` partition, in an HFile that is whole. */
object MetadataRecordTarget extends FuzzTarget {
  private lazy val hfiles = FuzzTarget
    .files(f => f.getParent.endsWith("metadata/files") && f.toString.endsWith(".hfile"))
    .map(b => HFileReader.open(new BytesReader("f", b), new BlockCache(1 << 20)))

  private lazy val schema = hfiles.flatMap(_.fileInfo.get("schema")).map(new String(_, UTF_8)).head

  /** Found by Jazzer: items that have a size, by which a look through them jumped, and inside them a length of millions. */
  private val sizedItems = Base64.getDecoder.decode(
    "AAAAAAAAAgICAgICAi0CAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIC" +
      "AgICAgICAgICAm8BAAACAgIAAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgJI" +
      "AgMAAAAAlv///wICAgICAgICAwICAgICAgJfMjAyNgAAAAAAAAAAAAAAAAAKAQAAAA=="
  )

  override def seeds: Vector[Array[Byte]] = sizedItems +: hfiles.flatMap { file =>
    val cursor = file.scan()
    val found = Vector.newBuilder[Array[Byte]]
    while (cursor.next()) found += cursor.value
    found.result()
  }

  override protected def read(bytes: Array[Byte]): Unit = {
    val out = new ByteArrayOutputStream
    val writer = new HFileWriter(out, HFileOptions(Codec.None))
    Seq(MetadataTableListing.AllPartitions, "p").foreach(key => writer.append(key.getBytes(UTF_8), bytes))
    writer.close()
    val file = new BytesReader("files.hfile", out.toByteArray)
    val layer = new MetadataLayer(HFileReader.open(file, new BlockCache, new DamagedTable(_)), schema, file.path, file)
    val listing = new MetadataTableListing(Vector(layer), true)
    listing.files("p")
    listing.partitions: Unit
  }
}
