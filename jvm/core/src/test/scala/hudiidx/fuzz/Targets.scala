package hudiidx.fuzz

import hudiidx.hfile.{BlockCache, HFileReader}
import hudiidx.log._
import hudiidx.manifest.{DeltaPartition, FilePage, PartitionListChange}
import hudiidx.storage.BytesReader
import hudiidx.store.IndexVersion
import hudiidx.table.PropertiesFile
import hudiidx.timeline.InstantContent
import hudiidx.{DamagedIndex, DamagedTable, HudiIdxException}

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
    FuzzTarget.files(f => f.getFileName.toString.contains(".log.") && !f.toString.endsWith(".crc"))

  override protected def read(bytes: Array[Byte]): Unit = Seq(6, 9).foreach { version =>
    val name = ".f-0_20260101000000000.log.1_0-1-1"
    val storage = new MemoryStorage(Map(name -> bytes))
    try {
      val blocks = SliceLog.countedBlocks(storage, Vector(name), BlockRules(version, None, _ => true))
      blocks.foreach(b =>
        RecordPositions.of(b.block, b.block.header.getOrElse(LogHeaderKey.BaseFileInstantTime, ""), name)
      )
      val rules = LogRules(version, MergeMode.EventTime, Vector("ts"), None, None)
      val keys = LogKeys.of(storage, blocks, rules, BlockReaders.AvroOnly, LogKeysOptions())
      try keys.foreach(_ => ())
      finally keys.close()
    } catch { case _: HudiIdxException => () }
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

object VersionTarget extends FuzzTarget {
  override def seeds: Vector[Array[Byte]] = FuzzTarget.files(_.getParent.endsWith("versions"))

  override protected def read(bytes: Array[Byte]): Unit = {
    IndexVersion.ofEarlierFormat(bytes, "f")
    IndexVersion.decode(bytes, "f"): Unit
  }
}

/** The first byte says which part of a manifest the others are. */
object ManifestTarget extends FuzzTarget {
  override def seeds: Vector[Array[Byte]] = (0 to 2).map(i => Array[Byte](i.toByte, 1, 1, 0, 0)).toVector

  override protected def read(bytes: Array[Byte]): Unit = if (bytes.nonEmpty) {
    val rest = bytes.drop(1)
    bytes(0) % 3 match {
      case 0 => FilePage.decode(rest, "p", "f"): Unit
      case 1 => DeltaPartition.decode(rest, "f"): Unit
      case _ => PartitionListChange.decode(rest, "f"): Unit
    }
  }
}
