package hudiidx.timeline

import java.nio.charset.StandardCharsets.UTF_8

import hudiidx.storage.LocalStorage
import hudiidx.{AvroCommits, CpuClock, DamagedTable, Fixtures, HashSpread, HashSpreadSuite}
import org.scalatest.funsuite.AnyFunSuite

class InstantContentSuite extends AnyFunSuite {

  private def content(text: String): InstantContent = InstantContent.of("f", text.getBytes(UTF_8))

  private def damage(decode: => Any): String = intercept[DamagedTable](decode).getMessage

  private def bytesOf(table: String, suffix: String): Array[Byte] = {
    val path = Fixtures.filesBelow(Fixtures.table(table)).find(f => f.endsWith(suffix) && !f.contains("metadata/"))
    LocalStorage.readAll(s"${Fixtures.table(table)}/${path.get}")
  }

  private def clustering(partition: String, fileId: String): InstantContent = content(
    s"""{"operationType":"CLUSTER","clusteringPlan":{"inputGroups":[{"slices":[{"partitionPath":"$partition","fileId":"$fileId"}]}]}}"""
  )

  private def stat(path: String): String =
    s"""{"partitionToWriteStats":{"p":[{"fileId":"f","path":$path,"prevCommit":"null","x":{"y":[1,{}]}}]}}"""

  test("an empty file is an empty commit, clean, rollback and savepoint, and no plan of a compaction") {
    val empty = content("")
    assert(empty.commit === CommitMetadata.Empty)
    assert(empty.clean.partitions.isEmpty && empty.rollback.partitions.isEmpty && empty.savepoint.isEmpty)
    assert(empty.clusteringPlan === None)
    assert(damage(empty.compactionPlan).contains("empty"))
    assert(damage(empty.restore).contains("empty"))
  }

  test("JSON may begin with white space, and unknown fields are skipped") {
    val commit = content("\n " + stat("\"p/f\"")).commit
    assert(commit.writeStats.map(s => (s.fileId, s.path, s.prevCommit)) === Vector(("f", Some("p/f"), None)))
  }

  test("a commit whose names have one hash code is refused before a map of them is made") {
    val names = HashSpreadSuite.ofOneHash(60000)
    val json = names.map(n => s""""$n":"v"""").mkString("""{"extraMetadata":{""", ",", "}}").getBytes(UTF_8)
    val avro = AvroCommits.changed(bytesOf("v9-cow-part", ".commit")) { commit =>
      val extra = new java.util.HashMap[String, String]
      names.foreach(extra.put(_, "v"))
      commit.put("extraMetadata", extra)
    }
    for (bytes <- Seq(json, avro)) {
      val took = CpuClock.millis(damage(InstantContent.of("f", bytes).commit))
      assert(took < 5000)
    }
    assert(damage(InstantContent.of("f", avro).commit).contains(HashSpread.Fault))
  }

  test("nulls in place of maps and lists read as nothing") {
    val commit = content(
      """{"partitionToWriteStats":null,"extraMetadata":null,"operationType":null,"partitionToReplaceFileIds":{"p":null}}"""
    ).commit
    assert(commit === CommitMetadata(Vector.empty, Map("p" -> Vector.empty), Map.empty, None))
    assert(content("""{"partitionToWriteStats":{"p":null}}""").commit === CommitMetadata.Empty)
  }

  test("rollbacks of a restore are in the order in which they ran, whatever that of the map is") {
    def rollbacks(starts: Map[String, String], instants: String*): Vector[Vector[String]] = {
      val each = instants.map { t =>
        val start = starts.get(t).fold("")(s => s""""startRollbackTime":"$s",""")
        s""""$t":[{$start"commitsRollback":["$t"],"partitionMetadata":{}}]"""
      }
      content(each.mkString("""{"hoodieRestoreMetadata":{""", ",", "}}")).restore.rollbacks.map(_.commitsRolledBack)
    }
    val ran = Vector(Vector("3"), Vector("2"), Vector("1"))
    Seq("1", "2", "3").permutations.foreach { order =>
      assert(rollbacks(Map("3" -> "5", "2" -> "6", "1" -> "7"), order: _*) === ran)
      assert(rollbacks(Map.empty, order: _*) === ran)
      assert(rollbacks(Map("1" -> "5", "2" -> "6", "3" -> "7"), order: _*) === ran.reverse)
    }
  }

  test("paths are made plain, and those that leave the table are refused") {
    def path(text: String) = content(stat("\"" + text + "\"")).commit.writeStats.head.path
    assert(path("p//./q/.f.log.1") === Some("p/q/.f.log.1"))
    assert(path("./f") === Some("f"))
    assert(path("a..b/f") === Some("a..b/f"))
    for (
      kept <- Seq("k=a:b/f", "a:b/f", "10:/f", "ts=2026-01-01 10:00:00/f", "u=s3a%3A%2F%2Fb/f", "u=s3a://b/f", "a=/f")
    )
      assert(path(kept) === Some(kept.replace("//", "/")))
    assert(content(stat("null")).commit.writeStats.head.path === None)
    for (bad <- Seq("../f", "p/../../f", "p/..", "/p/f", "file:/p/f", "s3a://b/f", "//h/f", "x-y.z+1:/f"))
      assert(damage(path(bad)).matches(s"f: path '\\Q$bad\\E' (is absolute|leaves the table).*"))
  }

  test("paths that no store takes are refused, and told by their beginning") {
    val long = "a/" * 100000 + "f"
    for (
      decode <- Seq[() => Any](
        () => content(s"""{"partitionToWriteStats":{"$long":[]}}""").commit,
        () => content(s"""{"partitionToWriteStats":{},"partitionToReplaceFileIds":{"$long":["f"]}}""").commit,
        () => content(s"""{"partitionMetadata":{"$long":{"deletePathPatterns":["f"]}}}""").clean,
        () => content(stat("\"" + long + "\"")).commit
      )
    ) {
      val said = damage(decode())
      // Jackson refuses such names of fields itself from 2.20 on.
      val isTold = said.contains("a path has 200001 letters ('a/a/") || said.startsWith("f: Name length (")
      assert(isTold && said.length < 1000, said.take(1000))
    }
  }

  test("partition paths that leave the table are refused in every kind of metadata, and ids that are part of no name") {
    val outside = Seq("..", "../p", "p/../../q", "p/..", "/x", "//h/x", "s3a://x", "s3a://x/p", "file:/x", "file:///x")
    val own = Seq(".hoodie", ".hoodie/x")
    for (
      (bad, why) <- outside
        .map(_ -> "leaves the table") ++ own.map(_ -> "is in the folder .hoodie, where no partition is")
    ) {
      val said = Seq[() => Any](
        () => content(s"""{"partitionToWriteStats":{"$bad":[]}}""").commit,
        () => content(s"""{"partitionToWriteStats":{},"partitionToReplaceFileIds":{"$bad":["f"]}}""").commit,
        () => content(s"""{"partitionMetadata":{"$bad":{"deletePathPatterns":["f"]}}}""").clean,
        () => content(s"""{"partitionMetadata":{"$bad":{"successDeleteFiles":["f"]}}}""").rollback,
        () => content(s"""{"hoodieRestoreMetadata":{"1":[{"partitionMetadata":{"$bad":{}}}]}}""").restore,
        () => content(s"""{"partitionMetadata":{"$bad":{"savepointDataFile":["f"]}}}""").savepoint,
        () => content(s"""{"operations":[{"partitionPath":"$bad","fileId":"f"}]}""").compactionPlan,
        () => clustering(bad, "f").clusteringPlan
      )
      said.foreach(decode => assert(damage(decode()).startsWith(s"f: partition path '$bad' $why")))
    }
    assert(damage(clustering("p", "../f").clusteringPlan).contains("../f"))
    assert(
      damage(content("""{"operations":[{"partitionPath":"p","fileId":"../f"}]}""").compactionPlan).contains("../f")
    )
    for (
      kept <- Seq(
        "a..b/c=..d",
        "ts=2026-01-01 10:00:00",
        "2026-01-01 10:00:00",
        "10:00",
        "a:b",
        "s3a%3A%2F%2Fb",
        "a/b"
      )
    )
      assert(clustering(kept, "f").clusteringPlan.map(_.map(_.partitionPath)) === Some(Vector(kept)))
    for (other <- Seq("p/.", "./p", "p/", "p//", "./p/./"))
      assert(clustering(other, "f").clusteringPlan.map(_.map(_.partitionPath)) === Some(Vector("p")))
    assert(clustering("u=s3a://b", "f").clusteringPlan.map(_.map(_.partitionPath)) === Some(Vector("u=s3a:/b")))
    val replaced = content("""{"partitionToWriteStats":{},"partitionToReplaceFileIds":{"p":["f"],"p/":["g"]}}""").commit
    assert(replaced.replacedFileIds === Map("p" -> Vector("f", "g")))
  }

  test("garbage, another value and another record are damage, never empty") {
    for (
      bad <- Seq(
        " ",
        "x",
        "[]",
        "{",
        "{}",
        "{\"a\":1}",
        "Obj",
        "Obj\u0001",
        "\u0000",
        "{\"partitionToWriteStats\":{}} x"
      )
    )
      assert(damage(content(bad).commit).startsWith("f: "), bad)
    assert(damage(content("""{"partitionToWriteStats":{"p":[{"numWrites":"x"}]}}""").commit).contains("integer"))
    assert(damage(content("""{"partitionToWriteStats":[]}""").commit).contains("object"))
    assert(damage(content("{\"a\":" * 5000).commit).startsWith("f: "))
    val commit = bytesOf("v9-cow-part", ".commit")
    assert(damage(InstantContent.of("f", commit).clean).contains("partitionMetadata"))
  }

  test("a file cut at any length is damaged") {
    for (table <- Seq("v6-cow-replace", "v9-cow-replace")) {
      val whole = bytesOf(table, ".replacecommit")
      assert(InstantContent.of("f", whole).commit.replacedFileIds.nonEmpty)
      for (length <- 1 until whole.length)
        assert(damage(InstantContent.of("f", whole.take(length)).commit).startsWith("f: "), s"$table $length")
      val longer = InstantContent.of("f", whole ++ "  x".getBytes(UTF_8))
      if (table.startsWith("v6")) damage(longer.commit)
    }
    val clean = bytesOf("v9-archived-cow", ".clean")
    for (length <- 1 until clean.length) damage(InstantContent.of("f", clean.take(length)).clean)
  }

  test("flipped bytes give a value or DamagedTable, nothing else") {
    for (table <- Seq("v6-cow-replace", "v9-cow-replace")) {
      val whole = bytesOf(table, ".replacecommit")
      for (at <- whole.indices; flip <- Seq(0x01, 0x80)) {
        val changed = whole.clone()
        changed(at) = (changed(at) ^ flip).toByte
        try InstantContent.of("f", changed).commit: Unit
        catch { case _: DamagedTable => () }
      }
    }
  }

  test("a hostile length is refused without taking memory for it") {
    val schema =
      """{"type":"record","name":"r","fields":[{"name":"operations","type":{"type":"array","items":"string"}}]}"""
    val header = Array[Byte]('O', 'b', 'j', 1) ++ avroLong(1) ++ avroString("avro.schema") ++ avroString(schema) ++
      avroLong(0) ++ new Array[Byte](16)
    def file(data: Array[Byte]) = header ++ avroLong(1) ++ avroLong(data.length.toLong) ++ data ++ new Array[Byte](16)
    for (
      data <- Seq(avroLong(Long.MaxValue), avroLong(Long.MinValue) ++ avroLong(1), avroLong(1) ++ avroLong(1L << 60))
    )
      damage(InstantContent.of("f", file(data ++ new Array[Byte](8))).compactionPlan)
  }

  test("values without bytes are no more than the bytes of their file, however many blocks count them") {
    val schema =
      """{"type":"record","name":"r","fields":[{"name":"partitionToWriteStats","type":{"type":"map","values":""" +
        """{"type":"array","items":"null"}}}]}"""
    val blocks = Array.fill(2000)(avroLong(4000)).flatten // 4,000 nulls each, in two bytes
    val data = avroLong(1) ++ avroString("p") ++ blocks ++ avroLong(0) ++ avroLong(0)
    val header = Array[Byte]('O', 'b', 'j', 1) ++ avroLong(1) ++ avroString("avro.schema") ++ avroString(schema) ++
      avroLong(0) ++ new Array[Byte](16)
    val file = header ++ avroLong(1) ++ avroLong(data.length.toLong) ++ data ++ new Array[Byte](16)
    assert(damage(InstantContent.of("f", file).commit).contains("4000 values"))
  }

  test("so are fields without bytes, in records of nothing else and in others") {
    def commit(fields: Int, item: String, bytes: Array[Byte]): InstantContent = {
      val nulls = (1 to fields).map(i => s"""{"name":"f$i","type":"null"}""")
      val one = s"""{"type":"record","name":"o","fields":[${(nulls ++ Seq(item).filter(_.nonEmpty)).mkString(",")}]}"""
      val schema = """{"type":"record","name":"r","fields":[{"name":"partitionToWriteStats","type":{"type":"map",""" +
        s""""values":"null"}},{"name":"x","type":{"type":"array","items":$one}},{"name":"y","type":"string"}]}"""
      val header = Array[Byte]('O', 'b', 'j', 1) ++ avroLong(1) ++ avroString("avro.schema") ++ avroString(schema) ++
        avroLong(0) ++ new Array[Byte](16)
      val items = avroLong(100) ++ Vector.fill(100)(bytes).flatten ++ avroLong(0)
      val data = avroLong(0) ++ items ++ avroString("y" * 500)
      InstantContent.of("f", header ++ avroLong(1) ++ avroLong(data.length.toLong) ++ data ++ new Array[Byte](16))
    }
    val flag = """{"name":"flag","type":"boolean"}"""
    for (few <- Seq(commit(3, "", Array.emptyByteArray), commit(3, flag, Array[Byte](1))))
      assert(few.commit === CommitMetadata.Empty)
    for (many <- Seq(commit(1000, "", Array.emptyByteArray), commit(1000, flag, Array[Byte](1))))
      assert(damage(many.commit).contains("fields that take no bytes"))
  }

  private def avroLong(value: Long): Array[Byte] = {
    val out = Array.newBuilder[Byte]
    var rest = (value << 1) ^ (value >> 63)
    while ((rest & ~0x7fL) != 0) {
      out += ((rest & 0x7f) | 0x80).toByte
      rest >>>= 7
    }
    out += rest.toByte
    out.result()
  }

  private def avroString(text: String): Array[Byte] = {
    val bytes = text.getBytes(UTF_8)
    avroLong(bytes.length.toLong) ++ bytes
  }

  test("45,000 write stats decode quickly from both forms") {
    val json = largeCommit(45000)
    // The same commit as Avro: stock's writer schema, taken from a fixture.
    val avro = LargeCommits.toAvro(bytesOf("v9-cow-replace", ".commit"), 45000)
    for ((form, bytes) <- Seq("JSON" -> json, "Avro" -> avro)) {
      val times = (0 until 5).map { _ =>
        CpuClock.millis(assert(InstantContent.of("f", bytes).commit.writeStats.size === 45000))
      }
      info(s"$form, ${bytes.length >> 20} MB: first ${times.head} ms, best ${times.min} ms")
      assert(times.min < 1000)
    }
  }

  private def largeCommit(stats: Int): Array[Byte] = {
    val one =
      """{"fileId":"5e564dfd-2ece-4ce9-ae7e-%012d-0","path":"lima/5e564dfd-2ece-4ce9-ae7e-%012d-0_0-2123-5022_""" +
        """20261120234602147.parquet","cdcStats":null,"prevCommit":"20261120234602147","numWrites":100,"numDeletes":0,""" +
        """"numUpdateWrites":0,"numInserts":100,"totalWriteBytes":8866,"totalWriteErrors":0,"tempPath":null,""" +
        """"partitionPath":"lima","totalLogRecords":0,"totalLogFilesCompacted":0,"totalLogSizeCompacted":0,""" +
        """"totalUpdatedRecordsCompacted":0,"totalLogBlocks":0,"totalCorruptLogBlock":0,"totalRollbackBlocks":0,""" +
        """"fileSizeInBytes":8866,"minEventTime":null,"maxEventTime":null,""" +
        """"runtimeStats":{"totalScanTime":0,"totalUpsertTime":0,"totalCreateTime":71}}"""
    (0 until stats)
      .map(i => one.format(i, i))
      .mkString("{\"partitionToWriteStats\":{\"lima\":[", ",", "]}}")
      .getBytes(UTF_8)
  }
}
