package hudiidx.hudi

import java.util.Properties

import hudiidx.{InvalidOption, StockIndexClass}
import hudiidx.sync.IndexOptions
import org.scalatest.funsuite.AnyFunSuite

class WriterOptionsSuite extends AnyFunSuite {

  private def of(settings: (String, String)*): WriterOptions = {
    val properties = new Properties
    settings.foreach { case (k, v) => properties.setProperty(k, v) }
    WriterOptions.of(properties)
  }

  test("the index class is named elsewhere as it is called") {
    assert(StockIndexClass.Name === classOf[RecordIndex].getName)
  }

  test("without options the index is global, moves nothing, makes nothing and leaves log files to updates") {
    val expected = WriterOptions(global = true, logInserts = None, create = false, movesPartition = false, Map.empty)
    assert(of("hoodie.table.name" -> "t") === expected)
  }

  test("options of the write are read, those of the index are passed on") {
    val found = of(
      WriterOptions.Global -> "false",
      WriterOptions.LogInserts -> "TRUE",
      WriterOptions.Create -> "true",
      WriterOptions.MovesPartition -> "true",
      IndexOptions.Path -> "/i"
    )
    val index = Map(IndexOptions.Path -> "/i")
    assert(
      found === WriterOptions(global = false, logInserts = Some(true), create = true, movesPartition = true, index)
    )
  }

  test("an unknown name of ours and a value that is no boolean are refused with what is known") {
    val unknown = intercept[InvalidOption](of("hudiidx.write.globl" -> "true"))
    assert(unknown.getMessage.contains("hudiidx.write.globl") && unknown.getMessage.contains(WriterOptions.Global))
    val bad = intercept[InvalidOption](of(WriterOptions.Create -> "yes"))
    assert(bad.getMessage === "option hudiidx.write.create is 'yes'; it takes true or false")
  }

  test("an index with a window is taken only by a write that names the window") {
    of().requireWindow(None, "/t")
    of(IndexOptions.RecordWindowDays -> "3").requireWindow(Some(3), "/t")
    Vector(of(), of(IndexOptions.RecordWindowDays -> "30")).foreach { options =>
      val refused = intercept[InvalidOption](options.requireWindow(Some(3), "/t"))
      assert(
        refused.getMessage.contains("window of 3 days") && refused.getMessage.contains("hudiidx.record.window.days=3")
      )
    }
  }
}
