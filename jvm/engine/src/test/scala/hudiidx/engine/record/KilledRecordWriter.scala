package hudiidx.engine.record

import hudiidx.engine.Tables
import hudiidx.hfile.BlockCache
import hudiidx.sync._
import hudiidx.sync.build.Indexer

/** As [[KilledWriter]], for an index with a record index. Arguments: table, `create` or `update`, part of a file's name,
  * `within` or `behind`.
  */
object KilledRecordWriter {

  def main(args: Array[String]): Unit = {
    val storage = new KilledWriter.StoppingStorage(args(2), args(3) == "within")
    val access = Tables.access(storage, new BlockCache(1 << 20))
    val part = new RecordPart(new LocalEngine(access), RecordOptions(mode = Some("global")))
    val indexer = new Indexer(access, args(0), IndexOptions(), LocalScanner, Vector(part))
    if (args(1) == "create") indexer.create() else indexer.update()
    println("done without coming to the step")
  }
}
