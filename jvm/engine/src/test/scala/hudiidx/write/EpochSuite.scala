package hudiidx.write

import hudiidx.{DamagedTable, Fixtures, NumberSites, UnsupportedTable}
import java.nio.charset.StandardCharsets.UTF_8
import org.scalatest.funsuite.AnyFunSuite

class EpochSuite extends AnyFunSuite {
  private def decided(path: String, pending: String = "") =
    Epoch.Decided("w", pending, path)("rows".getBytes(UTF_8))

  private def read(epoch: Epoch): Epoch = Epoch.decode("t/.hoodie/.heartbeat/1.2", Epoch.encode(epoch))

  test("a record comes back as it was made, and one that is cut at any place is known as cut") {
    val all = Seq(
      Epoch.Open("w"),
      Epoch.Open("w", "lock"),
      Epoch.Over("x"),
      decided(".hoodie/timeline/1_2.commit", ".hoodie/timeline/1.inflight")
    )
    for (epoch <- all) {
      assert(read(epoch) === epoch)
      val bytes = Epoch.encode(epoch)
      for (length <- bytes.indices)
        assert(Epoch.decode("r", bytes.take(length)) === Epoch.Cut, s"$epoch, $length bytes")
    }
    intercept[UnsupportedTable](Epoch.decode("r", "hudiidx-epoch 2\nopen\n\n\n".getBytes(UTF_8)))
  }

  test("behind the last number of a record there is none: nobody would find it") {
    val table = Fixtures.newFolder("hudiidx-epochs").toString
    val epochs = new Epochs(hudiidx.storage.LocalStorage, table)
    assert(epochs.publish("1", 999999999, Epoch.Open("w")))
    assert(intercept[DamagedTable](epochs.publish("1", 1000000000, Epoch.Open("w"))).getMessage.contains("1.999999999"))
    NumberSites.take("Epochs", t => Epochs.parse(s"1.$t"))
  }

  test(
    "a record that would have a writer put a file outside the table's own folder, or one that is no instant, is refused"
  ) {
    for (
      path <- Seq(
        "../other/.hoodie/1.commit",
        ".hoodie/../../etc/x",
        ".hoodie/./x",
        ".hoodie//x",
        ".hoodie",
        ".hoodie/",
        ".hoodie/x",
        ".hoodie/links/authorized_keys",
        ".hoodie/hudiidx/versions/00000000000000000009.json",
        ".hoodie/timeline/hoodie.properties",
        ".hoodie/1.commit/x",
        "/etc/x",
        "s3a://b/x",
        "sf/1.parquet",
        ".hoodie/" + "a/" * 200000 + "1.deltacommit",
        ""
      )
    ) {
      val e = intercept[DamagedTable](read(decided(path)))
      assert(
        e.getMessage.contains("t/.hoodie/.heartbeat/1.2") && e.getMessage.contains("not a file of the table's timeline")
      )
      if (path.nonEmpty) intercept[DamagedTable](read(decided(".hoodie/1.commit", path)))
    }
  }
}
