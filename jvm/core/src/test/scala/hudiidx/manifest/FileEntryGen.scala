package hudiidx.manifest

import hudiidx.table.{FileEntry, FileKind}
import java.util.UUID
import org.scalacheck.Gen

/** Generators of file entries of all the forms that names take. */
object FileEntryGen {
  val instant: Gen[String] = Gen.frequency(
    8 -> Gen.choose(20200101000000000L, 20261231235959999L).map(_.toString),
    1 -> Gen.choose(20190101000000L, 20191231235959L).map(_.toString),
    1 -> Gen.oneOf("00000000000001", "00000000000002")
  )

  private val uuid: Gen[UUID] = Gen.oneOf(
    Gen.zip(Gen.long, Gen.long).map { case (h, l) => new UUID(h, l) },
    Gen.zip(Gen.long, Gen.long).map { case (h, l) => UUID.nameUUIDFromBytes(s"$h-$l".getBytes) },
    Gen.long.map(seed => {
      val r = new scala.util.Random(seed);
      new UUID((r.nextLong() & ~0xf000L) | 0x4000L, (r.nextLong() >>> 2) | Long.MinValue)
    })
  )

  val fileId: Gen[String] = Gen.frequency(
    8 -> Gen.zip(uuid, Gen.choose(0, 12)).map { case (u, n) => s"$u-$n" },
    1 -> uuid.map(_.toString),
    1 -> uuid.map(_.toString.toUpperCase),
    1 -> Gen.zip(uuid, Gen.oneOf("-01", "-", "-x", "x-0", "-99999999999999999999")).map { case (u, s) => s"$u$s" },
    1 -> Gen.oneOf("files-0000-0", "00000001-ab", "f", "名前")
  )

  private val token: Gen[String] = Gen.frequency(
    8 -> Gen.zip(Gen.choose(0, 9999), Gen.choose(0, 300), Gen.choose(0, 100000)).map { case (a, b, c) => s"$a-$b-$c" },
    1 -> Gen.oneOf("", "1-0-1", "01-2-3", "x", "1-2", "99999999999999999999-0-0")
  )

  private val size: Gen[Long] = Gen.oneOf(Gen.choose(0L, 1L << 28), Gen.const(0L), Gen.const(1L << 45))

  /** @param partitionPath of all entries; @param tokens whether odd tokens are wanted */
  def entry(partitionPath: String): Gen[FileEntry] = for {
    id <- fileId
    time <- instant
    t <- token
    kind <- Gen.oneOf(FileKind.All)
    version <- Gen.choose(1, 12)
    bytes <- size
    completion <- Gen.option(instant)
    replaced <- Gen.frequency(6 -> Gen.const(None), 1 -> instant.map(Option(_)))
  } yield FileEntry(partitionPath, id, time, t, kind, if (kind.isBase) 0 else version, bytes, None, replaced)
    .copy(completionTime = completion.map(c => if (time.length == 17) time else c))

  /** Entries with distinct names, some sharing file ids and instants, as a table has them. */
  def entries(partitionPath: String): Gen[Vector[FileEntry]] = for {
    pool <- Gen.listOf(entry(partitionPath))
    shared <- Gen.listOfN(pool.size, Gen.choose(0, math.max(0, pool.size - 1)))
    share <- Gen.prob(0.5)
  } yield {
    val mixed = pool.zip(shared).map { case (e, i) => if (share) e.copy(fileId = pool(i).fileId) else e }
    mixed.groupBy(_.fileName).values.map(_.head).toVector
  }
}
