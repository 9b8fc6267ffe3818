package hudiidx.fuzz

import hudiidx.hfile.{BlockCache, HFileReader}
import hudiidx.log._
import hudiidx.manifest._
import hudiidx.storage.{BytesReader, FileInfo}
import hudiidx.store.IndexVersion
import hudiidx.table.{FileName, FileOrder, PropertiesFile, TableConfig}
import hudiidx.table.listing.PartitionLister
import hudiidx.timeline.{InstantContent, InstantTime, TimelineReader}
import hudiidx.{DamagedIndex, DamagedTable, Fixtures, HudiIdxException, TableFormats}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.{ByteBuffer, ByteOrder}
import java.time.ZoneOffset
import java.util.Base64

object HFileTarget extends FuzzTarget {
  override def seeds: Vector[Array[Byte]] = FuzzTarget.files(_.toString.endsWith(".hfile"))

  override protected def read(bytes: Array[Byte]): Unit = {
    val file = HFileReader.open(new BytesReader("f.hfile", bytes), new BlockCache(1 << 20), new DamagedIndex(_))
    val cursor = file.scan()
    var keys = 0
    while (cursor.next()) keys += cursor.valueLength
    file.getAll(Array("a".getBytes, "m".getBytes, "z".getBytes)): Unit
  }
}

object LogTarget extends FuzzTarget {
  override def seeds: Vector[Array[Byte]] =
    FuzzTarget.files(f => f.getFileName.toString.contains(".log.") && !f.toString.endsWith(".crc")) :+ runs

  /** Positions of 2,000 times 65,536 records, in runs that take 14 bytes each. */
  private def runs: Array[Byte] = {
    val n = 2000
    val out = ByteBuffer.allocate(16 + n / 8 + n * 14).order(ByteOrder.LITTLE_ENDIAN)
    out.putLong(1L).putInt(0).putInt(12347 | (n - 1) << 16).put(Array.fill[Byte](n / 8)(-1))
    (0 until n).foreach(i => out.putShort(i.toShort).putShort(-1))
    (0 until n).foreach(_ => out.putInt(0))
    (0 until n).foreach(_ => out.putShort(1).putShort(0).putShort(-1))
    val header = Seq(
      LogHeaderKey.InstantTime -> "1",
      LogHeaderKey.BaseFileInstantTime -> "0",
      LogHeaderKey.RecordPositions -> Base64.getEncoder.encodeToString(out.array)
    )
    LogFiles.block(3, header, new Array[Byte](8))
  }

  override protected def read(bytes: Array[Byte]): Unit = Seq(6, 9).foreach { version =>
    val name = ".f-0_20260101000000000.log.1_0-1-1"
    val storage = new MemoryStorage(Map(name -> bytes))
    try {
      val blocks = SliceLog.countedBlocks(storage, Vector(name), BlockRules(TableFormats.of(version), None, _ => true))
      blocks.foreach(b =>
        RecordPositions.of(b.block, b.block.header.getOrElse(LogHeaderKey.BaseFileInstantTime, ""), name)
      )
      val rules = LogRules(TableFormats.of(version), MergeMode.EventTime, Vector("ts"), None, None)
      val keys = LogKeys.of(storage, blocks, rules, BlockReaders.AvroOnly, LogKeysOptions())
      try keys.foreach(_ => ())
      finally keys.close()
    } catch { case _: HudiIdxException => () }
  }
}

/** Change-data blocks; images have the columns that the writer had. */
object ChangeTarget extends FuzzTarget {
  override lazy val seeds: Vector[Array[Byte]] = {
    val tables = Vector(Fixtures.table("v9-cdc-cow"), Fixtures.part("changes-cow-op-key-only"))
    FuzzTarget.filesOf(tables, _.toString.endsWith(".cdc"), most = 4)
  }

  private lazy val columns = {
    val written = LogFile.blocks(new BytesReader("f", seeds.head)).next().schema.get
    AvroFieldPlan.parse(written, "f").getField("before").schema.getTypes.get(1).toString
  }

  override protected def read(bytes: Array[Byte]): Unit = {
    val name = ".f-0_20260101000000000.log.1_0-1-1.cdc"
    ChangeRecords.open(new MemoryStorage(Map(name -> bytes)), name, columns, floatsByText = true, 0L).foreach(_ => ())
  }
}

object InstantTarget extends FuzzTarget {
  override def seeds: Vector[Array[Byte]] = FuzzTarget.files { f =>
    val name = f.getFileName.toString
    f.toString.contains(".hoodie") && !f.toString.contains("metadata/files") && !name.endsWith(
      ".crc"
    ) && name.head.isDigit
  }

  override protected def read(bytes: Array[Byte]): Unit = {
    val content = InstantContent.of("f", bytes)
    Seq(
      () => content.commit,
      () => content.commitWithoutStats,
      () => content.commitWithSample,
      () => content.clean,
      () => content.rollback,
      () => content.restore,
      () => content.savepoint,
      () => content.compactionPlan,
      () => content.clusteringPlan
    ).foreach { read =>
      try read(): Unit
      catch { case _: DamagedTable => () }
    }
  }
}

object PropertiesTarget extends FuzzTarget {
  override def seeds: Vector[Array[Byte]] = FuzzTarget.files(_.toString.endsWith("hoodie.properties"))
  override protected def read(bytes: Array[Byte]): Unit = PropertiesFile.parse(bytes): Unit
}

/** Files that mark partitions, with the write that made them. */
object MetafileTarget extends FuzzTarget {
  override def seeds: Vector[Array[Byte]] = FuzzTarget.files(_.endsWith(PartitionLister.Metafile)) :+
    "commitTime=\\u12".getBytes(UTF_8)

  override protected def read(bytes: Array[Byte]): Unit =
    PartitionLister.commitTime(new MemoryStorage(Map("f" -> bytes)), "f"): Unit
}

object VersionTarget extends FuzzTarget {
  override def seeds: Vector[Array[Byte]] = FuzzTarget.files(_.getParent.endsWith("versions"))

  override protected def read(bytes: Array[Byte]): Unit = {
    IndexVersion.ofEarlierFormat(bytes, "f")
    IndexVersion.decode(bytes, "f"): Unit
  }
}

/** Names of files and what the properties say; the first byte says which. */
object TableTarget extends FuzzTarget {
  override def seeds: Vector[Array[Byte]] = {
    val names = ManifestTarget.tables.map(t => Fixtures.filesBelow(t).map(f => f.substring(f.lastIndexOf('/') + 1)))
    val lists = names.map(_.distinct.take(80).mkString("\n").getBytes(UTF_8))
    lists.map(0.toByte +: _) ++ PropertiesTarget.seeds.map(1.toByte +: _)
  }

  override protected def read(bytes: Array[Byte]): Unit = if (bytes.nonEmpty) {
    val rest = bytes.drop(1)
    if (bytes(0) % 2 == 0) names(new String(rest, UTF_8).split('\n').toVector)
    else PropertiesFile.parse(rest).foreach(properties)
  }

  private def names(all: Vector[String]): Unit = {
    val files = all.map(n => FileInfo(s"/t/.hoodie/$n", 1L, 1L, isDirectory = false))
    Seq(1, 2).foreach { layout =>
      val timeline = TimelineReader.of("/t/.hoodie", layout, files, ZoneOffset.UTC)
      timeline.instants.foreach(i => InstantTime.toMillis(i.requestedTime, ZoneOffset.UTC))
    }
    all.foreach(n => FileName.parse("p", n, 1L).foreach(_.fileName))
  }

  private def properties(all: Map[String, String]): Unit = {
    val config = TableConfig.of("f", all)
    Seq[TableConfig => Any](
      _.timelineDir("/t"),
      _.historyDir("/t"),
      _.archiveDir("/t"),
      _.inflightMetadataPartitions,
      _.recordKeyForm,
      _.timelineZone
    ).foreach { ask =>
      try ask(config): Unit
      catch { case _: HudiIdxException => () }
    }
  }
}

/** The first byte says which part of a manifest the others are. */
object ManifestTarget extends FuzzTarget {
  private[fuzz] def tables: Vector[String] = Vector("v6-mor-part", "v9-mor-part", "v9-cow-complex").map(Fixtures.table)

  /** Pages of the fixtures' files as the writer has them, and all cells of the manifests of a kept index. */
  override def seeds: Vector[Array[Byte]] = {
    val pages = tables.flatMap { table =>
      val entries = Fixtures.filesBelow(table).filterNot(_.startsWith(".hoodie")).flatMap { f =>
        val at = f.lastIndexOf('/')
        FileName.parse(f.take(math.max(0, at)), f.drop(at + 1), f.length.toLong)
      }
      EncodedPartition.pages(FileOrder.sorted(entries.toArray), 12)
    }
    val numbered = pages.zipWithIndex.map { case (p, i) => NumberedPage(1 + i * 12, p) }
    val deltas = Vector(
      DeltaPartition(isNew = true, cleared = false, Array.empty, numbered.take(1)),
      DeltaPartition(isNew = false, cleared = false, Array(3, 4, 90), numbered),
      DeltaPartition(isNew = false, cleared = true, Array.empty, Vector.empty)
    )
    val lists = Vector(PartitionListChange(Vector("lima", "day=2026-01-01/hour=3", ""), Vector("nyc", "oslo")))
    pages.map(0.toByte +: _.bytes) ++ deltas.map(1.toByte +: DeltaPartition.encode(_)) ++
      lists.map(2.toByte +: PartitionListChange.encode(_)) ++ kept :+ equalEntries
  }

  /** Pages of as many equal entries as one may have: a bit for each, and some bytes. */
  private def equalEntries: Array[Byte] = {
    val entry = FileName.parse("p", "8d0f5b30-c399-4ff6-b1c0-027939fc091d-0_0-5-8_20261121001409195.parquet", 9L).get
    val page = EncodedPage(1 << 16, FilePage.encode(Array.fill(1 << 16)(entry), 0, 1 << 16))
    val pages = Vector.fill(7)(NumberedPage(1, page))
    1.toByte +: DeltaPartition.encode(DeltaPartition(isNew = true, cleared = false, Array.empty, pages))
  }

  private def kept: Vector[Array[Byte]] =
    Seq("master_manifest" -> 0, "delta_manifest" -> 1, "delta_manifest" -> 2).toVector.flatMap { case (kind, which) =>
      FuzzTarget.files(_.toString.endsWith(kind)).flatMap { bytes =>
        val cursor = HFileReader.open(new BytesReader("f", bytes), new BlockCache(1 << 20)).scan()
        val cells = Vector.newBuilder[Array[Byte]]
        while (cursor.next()) cells += which.toByte +: cursor.value
        cells.result()
      }
    }

  override protected def read(bytes: Array[Byte]): Unit = if (bytes.nonEmpty) {
    val rest = bytes.drop(1)
    bytes(0) % 3 match {
      case 0 => FilePage.decode(rest, "p", "f"): Unit
      case 1 => DeltaPartition.decode(rest, "f").added("p", "f"): Unit
      case _ => PartitionListChange.decode(rest, "f"): Unit
    }
  }
}
