package hudiidx.hfile

import hudiidx.DamagedIndex
import hudiidx.storage.{BytesReader, LocalStorage, RandomReader}
import java.lang.ref.WeakReference
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.attribute.FileTime
import java.nio.file.{Files, StandardCopyOption}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

final class HFileRoundTripSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 150)

  private val bytes: Gen[Byte] = Gen.oneOf(Gen.choose(-128, 127).map(_.toByte), Gen.oneOf(Seq[Byte](0, 1, -1, 97)))
  private def array(max: Int): Gen[Array[Byte]] =
    Gen.choose(0, max).flatMap(n => Gen.containerOfN[Array, Byte](n, bytes))
  private val cellsGen: Gen[HFiles.Cells] =
    Gen.choose(0, 120).flatMap(n => Gen.listOfN(n, Gen.zip(array(12), array(40)))).map(HFiles.cells(_))
  private val optionsGen: Gen[HFileOptions] = for {
    codec <- Gen.oneOf[Codec](Codec.None, Codec.Gzip, Codec.Zstd(3))
    block <- Gen.oneOf(1, 64, 300, 4096)
    index <- Gen.oneOf(1, 90, 400, 1 << 20)
    checksum <- Gen.oneOf[Checksum](Checksum.Null, Checksum.Crc32c)
  } yield HFileOptions(codec, block, checksum, index)

  test("a file gives back exactly the cells written: by scan, by get, by sorted batch and from any key on") {
    forAll(cellsGen, optionsGen, Gen.listOf(array(12)), Gen.oneOf(true, false)) { (cells, options, others, keep) =>
      val cache = new BlockCache(if (keep) BlockCache.DefaultCapacityBytes else 0)
      val reader = HFiles.open(HFiles.write(cells, options), cache, 4096)
      assert(HFiles.drain(reader.scan()) === HFiles.plain(cells))
      assert(reader.entryCount === cells.size)
      val asked =
        (cells.keysIterator.map(_.toArray).toVector ++ others).sortWith(hudiidx.bytes.Bytes.compare(_, _) < 0).toArray
      val wanted = asked.map(k => cells.get(k.toVector).map(_.toVector))
      assert(asked.map(k => HFiles.bytesOf(reader.get(k))) === wanted)
      assert(reader.getAll(asked).map(HFiles.bytesOf) === wanted)
      others.foreach { from =>
        val rest = HFiles.plain(cells).filter { case (k, _) => hudiidx.bytes.Bytes.compare(k.toArray, from) >= 0 }
        assert(HFiles.drain(reader.scan(from)) === rest)
      }
    }
  }

  test("seeks through much of a file that is large for the cache find what other seeks find, with fewer reads") {
    forAll(cellsGen, optionsGen, Gen.listOf(array(12)), Gen.oneOf(0L, 64L)) { (cells, options, others, capacity) =>
      val file = HFiles.write(cells, options)
      val asked = (cells.keysIterator.map(_.toArray).toVector ++ others).sortWith(hudiidx.bytes.Bytes.compare(_, _) < 0)
      def found(cursor: HFileCursor) =
        asked.map(k => if (cursor.seek(k)) Some((cursor.key.toVector, cursor.value.toVector)) else None)
      val plain, swept = new BlockCache(capacity)
      val one = found(HFiles.open(file, plain, 4096).cursor())
      assert(one === asked.map(k => cells.get(k.toVector).map(v => (k.toVector, v.toVector))))
      assert(found(HFiles.open(file, swept, 4096).cursor(Long.MaxValue)) === one)
      assert(swept.counters.reads <= plain.counters.reads)
      assert(swept.counters.blocksDecoded <= plain.counters.blocksDecoded)
    }
  }

  test("a sweep reads ahead and leaves the cache as it was") {
    val cells = HFiles.sample(4, 20000, 30, 50)
    val file = HFiles.write(cells, HFileOptions(Codec.None, 4096))
    val cache = new BlockCache(64 << 10)
    val reader = HFiles.open(file, cache, 4096)
    val opened = cache.counters.reads
    val cursor = reader.cursor(cells.size.toLong)
    cells.keysIterator.map(_.toArray).foreach(k => assert(cursor.seek(k)))
    assert(cache.sizeBytes === 0)
    assert(cache.counters.reads - opened < file.length / BlockRoom.MostAhead + 10)
    val few = reader.cursor(1)
    assert(few.seek(cells.firstKey.toArray) && cache.sizeBytes > 0)
  }

  test("the same cells give the same bytes, and meta blocks and file info come back") {
    forAll(cellsGen, optionsGen, array(200)) { (cells, options, meta) =>
      val metas = Map("bloomFilter" -> meta, "a" * 130 -> Array[Byte](1))
      val file = HFiles.write(cells, options, metas)
      assert(file === HFiles.write(cells, options, metas))
      val reader = HFiles.open(file)
      metas.foreach { case (name, value) => assert(reader.meta(name).flatMap(HFiles.bytesOf) === Some(value.toVector)) }
      assert(reader.meta("absent").isEmpty)
    }
  }

  test("small index blocks give several levels, and large ones one") {
    val cells = HFiles.sample(1, 3000, 20, 10)
    def levels(indexBytes: Int): Int =
      HFiles.open(HFiles.write(cells, HFileOptions(Codec.None, 200, Checksum.Crc32c, indexBytes))).indexLevels
    assert(levels(1 << 20) === 1)
    assert(levels(4096) === 2)
    assert(levels(300) >= 3)
  }

  test("a file that is smaller than the tail is opened and read with one read") {
    val counting =
      new HFiles.CountingReader(new BytesReader("f", HFiles.write(HFiles.sample(2, 500, 20, 30), HFileOptions())))
    val reader = HFileReader.open(counting, new BlockCache)
    assert(HFiles.drain(reader.scan()).nonEmpty)
    assert(counting.reads === 1)
  }

  test("a sorted batch reads and decodes each block at most once, without help of the cache") {
    val cells = HFiles.sample(3, 20000, 30, 50)
    val options = HFileOptions(Codec.None, 4096, Checksum.Crc32c, 1024)
    val cache = new BlockCache(0)
    val reader = HFiles.open(HFiles.write(cells, options), cache, 4096)
    val opened = cache.counters.reads
    assert(reader.getAll(cells.keysIterator.map(_.toArray).toArray).forall(_ != null))
    val (reads, blocks) = (cache.counters.reads - opened, cache.counters.blocksDecoded)
    assert(reads < blocks / 4)
    assert(HFiles.drain(reader.scan()).size === cells.size)
    assert(cache.counters.blocksDecoded === 2 * blocks)
    assert(cache.counters.reads - opened <= 2 * reads)
  }

  test("without a cache a scan reads into the same arrays; what a cursor and gets gave stays as it was") {
    val cells = HFiles.sample(6, 5000, 20, 50)
    for (codec <- Seq(Codec.None, Codec.Gzip, Codec.Zstd(3))) {
      val reader = HFiles.open(HFiles.write(cells, HFileOptions(codec, 4096)), new BlockCache(0), 4096)
      val scan = reader.scan()
      assert(Iterator.continually(scan.next()).takeWhile(identity).map(_ => scan.valueBytes).toSet.size < 20)
      val cursor = reader.cursor()
      val views = Iterator.continually(cursor.next()).takeWhile(identity).map(_ => cursor.valueBuffer).toVector
      assert(views.map(HFiles.bytesOf(_).get) === cells.valuesIterator.map(_.toVector).toVector)
      val first = cells.keysIterator.take(3000).map(_.toArray).toArray
      val given = reader.getAll(first)
      reader.getAll(cells.keysIterator.map(_.toArray).toArray)
      assert(given.map(HFiles.bytesOf(_).get) === first.map(k => cells(k.toVector).toVector))
    }
  }

  test("a cached block keeps no reader, nor the bytes that it read ahead") {
    val cache = new BlockCache
    def readOnce(): WeakReference[RandomReader] = {
      val file = new BytesReader("memory.hfile", HFiles.write(HFiles.sample(7, 200, 20, 30), HFileOptions()))
      val cursor = HFileReader.open(file, cache).cursor()
      while (cursor.next()) ()
      new WeakReference(file)
    }
    val file = readOnce()
    val end = System.nanoTime + 20000000000L
    while (file.get != null && System.nanoTime < end) System.gc()
    assert(file.get === null)
    assert(cache.sizeBytes > 0)
  }

  test("a file under a name that another had is another, also with its size and time") {
    val file = Files.createTempFile("hudiidx-named", ".hfile")
    val time = FileTime.fromMillis(1700000000000L)
    val cache = new BlockCache()
    def put(value: Byte, millis: Long): Unit = {
      val made = Files.createTempFile("hudiidx-named", ".made")
      val cells = HFiles.cells(Vector("k".getBytes(UTF_8) -> Array.fill(100)(value)))
      Files.write(made, HFiles.write(cells, HFileOptions(Codec.None, 4096)))
      Files.setLastModifiedTime(made, FileTime.fromMillis(millis))
      Files.move(made, file, StandardCopyOption.REPLACE_EXISTING): Unit
    }
    def found: Byte = {
      val reader = LocalStorage.open(file.toString)
      try HFileReader.open(reader, cache).get("k".getBytes(UTF_8)).get(0)
      finally reader.close()
    }
    for ((value, millis) <- Seq(1 -> 0L, 2 -> 0L, 3 -> 1L)) {
      put(value.toByte, time.toMillis + millis)
      assert(found === value && found === value)
    }
    assert(cache.counters.misses === 3)
    Files.delete(file)
  }

  test("a cached block is not read again, and the cache stays within its bytes") {
    val cells = HFiles.sample(4, 20000, 30, 50)
    val file = HFiles.write(cells, HFileOptions(Codec.Zstd(3), 4096))
    val cache = new BlockCache(64 << 20)
    val reader = HFiles.open(file, cache)
    HFiles.drain(reader.scan())
    val reads = cache.counters.reads
    val hits = cache.counters.hits
    HFiles.drain(reader.scan())
    assert(cache.counters.reads === reads)
    assert(cache.counters.hits > hits)
    val small = new BlockCache(20000)
    HFiles.drain(HFiles.open(file, small).scan())
    assert(small.sizeBytes > 0 && small.sizeBytes <= 20000)
    assert(small.counters.bytesRead > 0 && small.counters.misses > 0)
  }

  test("a zstd block cut into Hadoop's chunks, one or several, gives the plain bytes; a wrong length is an error") {
    val plain = Array.tabulate[Byte](5000)(i => (i / 7).toByte)
    def chunk(from: Int, until: Int): Array[Byte] = {
      val frame = com.github.luben.zstd.Zstd.compress(plain.slice(from, until))
      java.nio.ByteBuffer.allocate(4).putInt(frame.length).array ++ frame
    }
    val size = java.nio.ByteBuffer.allocate(4).putInt(plain.length).array
    def unpack(bytes: Array[Byte], length: Int, room: BlockRoom): Array[Byte] =
      BlockCompression.decompress(Codec.Zstd(3), bytes, 0, bytes.length, length, room)(s => throw new DamagedIndex(s))
    for (
      block <- Seq(size ++ chunk(0, 5000), size ++ chunk(0, 3000) ++ chunk(3000, 5000));
      room <- Seq(null, new BlockRoom)
    ) {
      assert(unpack(block, 5000, room).take(5000) === plain)
      Seq(4999, 5001).foreach(n => intercept[DamagedIndex](unpack(block, n, room)))
    }
  }

  test(
    "a look whether keys are in order decodes each data block once and each index block twice, without a cache too"
  ) {
    val file = HFiles.write(HFiles.sample(3, 2000, 12, 20), HFileOptions(Codec.None, 200, indexBlockBytes = 150))
    def decoded(cache: BlockCache): Long = {
      HFiles.open(file, cache).requireOrdered()
      cache.counters.blocksDecoded
    }
    val each = decoded(new BlockCache)
    assert(each > 200 && decoded(new BlockCache(0)) <= 2 * each)
  }

  test("keys that do not ascend are refused") {
    val writer = new HFileWriter(new java.io.ByteArrayOutputStream, HFileOptions())
    writer.append(Array[Byte](1), Array.emptyByteArray)
    intercept[IllegalArgumentException](writer.append(Array[Byte](1), Array.emptyByteArray))
    intercept[IllegalArgumentException](writer.append(Array[Byte](0, 5), Array.emptyByteArray))
    writer.append(Array[Byte](-1), Array.emptyByteArray) // 0xff is the highest byte
    intercept[IllegalArgumentException](writer.append(new Array[Byte](40000), Array.emptyByteArray))
  }

  test("one cell may be larger than a block") {
    val large = Array.fill[Byte](300000)(7)
    val cells = HFiles.cells(Seq("a", "b", "c").map(_.getBytes(UTF_8) -> large))
    val reader = HFiles.open(HFiles.write(cells, HFileOptions(Codec.Gzip, 4096)))
    assert(HFiles.drain(reader.scan()) === HFiles.plain(cells))
  }
}
