package hudiidx.table

import com.fasterxml.jackson.databind.JsonNode
import hudiidx.{Figures, Fixtures}
import org.scalatest.Assertions

/** Listings that stock Hudi gave of the fixture tables, and their comparison with ours. */
object StockAnswers extends Assertions {

  /** Partitions, files with sizes, and every view call of every partition. */
  def compare(name: String, source: FileSource, view: FileSystemView): Unit = {
    val answers = Fixtures.json(name).path("listing")
    assert(source.partitions === texts(answers.path("partitions")).sorted)
    source.partitions.foreach { p =>
      val files = source.files(p).map(f => f.fileName -> f.sizeBytes).toMap
      assert(files === stockFiles(name, p), s"files of '$p'")
      compareViews(name, view, p, answers.path("per_partition").path(p))
    }
  }

  /** Stock 1.2.0 puts log files that version 6 wrote into later file slices of these tables, by completion, here they stay in the
    * slices that they name: docs/decisions.md, "Log files of version 8 on a table that was downgraded to 6".
    */
  val WithMovedLogs: Set[String] = Set("up-v6-mor-event", "up-v6-mor-part")

  /** Slices with the log files that name them, of slices as stock gives them.
    *
    * @param known file id and instant of every slice
    */
  private def asNamed(slices: Vector[Slice], known: Set[(String, String)]): Vector[Slice] = {
    val logs = for (s <- slices; log <- s._4) yield {
      val named = (s._1, log.substring(log.indexOf('_') + 1).takeWhile(_ != '.'))
      (if (known(named)) named else (s._1, s._2)) -> log
    }
    slices.map { case (id, instant, base, _) => (id, instant, base, logs.collect { case ((`id`, `instant`), l) => l }) }
  }

  private def answer(stock: JsonNode, call: String): JsonNode = {
    val found = if (call == "latestMergedBeforeOrOn") stock.path(call).path("slices") else stock.path(call)
    if (found.isTextual) answer(stock, found.asText().stripPrefix("same as ")) else found
  }

  /** Of a call, as stock told them.
    *
    * @param stock its answers for the partition
    */
  def toldSlices(stock: JsonNode, call: String): Vector[Slice] =
    elements(answer(stock, call)).map(sliceOf).sortBy(s => (s._1, s._2))

  def ours(found: Vector[FileSlice]): Vector[Slice] = found.map(sliceOf).sortBy(s => (s._1, s._2))

  def compareViews(name: String, view: FileSystemView, p: String, stock: JsonNode): Unit = {
    def bases(call: String) = elements(answer(stock, call)).map(baseOf).sorted
    lazy val known = toldSlices(stock, "allFileSlices").map(s => (s._1, s._2)).toSet
    def slices(call: String) = {
      val told = toldSlices(stock, call)
      if (WithMovedLogs(name)) asNamed(told, known) else told
    }
    assert(view.latestBaseFiles(p).map(baseOf).sorted === bases("latestBaseFiles"), s"latestBaseFiles of '$p'")
    assert(view.allBaseFiles(p).map(baseOf).sorted === bases("allBaseFiles"), s"allBaseFiles of '$p'")
    assert(
      view.allFileGroups(p).map(_.fileId) === texts(answer(stock, "allFileGroups")).sorted,
      s"allFileGroups of '$p'"
    )
    assert(view.allReplacedFileGroups(p).map(_.fileId) === texts(answer(stock, "replacedFileGroups")).sorted)
    assert(ours(view.latestFileSlices(p)) === slices("latestFileSlices"), s"latestFileSlices of '$p'")
    assert(ours(view.allFileSlices(p)) === slices("allFileSlices"), s"allFileSlices of '$p'")
    val instant = stock.path("latestMergedBeforeOrOn").path("instant").asText()
    assert(ours(view.latestMergedFileSlices(p, Some(instant))) === slices("latestMergedBeforeOrOn"), s"merged of '$p'")
    if (stock.has("latestUnCompactedFileSlices"))
      assert(
        ours(view.latestUncompactedFileSlices(p)) === slices("latestUnCompactedFileSlices"),
        s"uncompacted of '$p'"
      )
    Figures.add("view calls compared with stock Hudi's", if (stock.has("latestUnCompactedFileSlices")) 8 else 7)
  }

  /** On version 6 a rollback puts the size 1 into the metadata table; the listing by file system has the true one. */
  def stockFiles(name: String, partition: String): Map[String, Long] = {
    val answers = Fixtures.json(name)
    def filesIn(listing: String) =
      elements(answers.path(listing).path("per_partition").path(partition).path("files"))
        .map(f => f.get(0).asText() -> f.get(1).asLong())
        .toMap
    val onStorage = filesIn("listing_by_file_system")
    filesIn("listing").map { case (file, size) => file -> (if (size == 1) onStorage.getOrElse(file, size) else size) }
  }

  def instantOf(file: String): String = file.substring(file.lastIndexOf('_') + 1, file.lastIndexOf('.'))

  def elements(array: JsonNode): Vector[JsonNode] = Vector.tabulate(array.size)(array.get(_))

  def texts(array: JsonNode): Vector[String] = elements(array).map(_.asText())

  def pairs(array: JsonNode, a: Int, b: Int): Vector[(String, String)] =
    elements(array).map(e => e.get(a).asText() -> e.get(b).asText()).sorted

  def baseOf(b: BaseFile): (String, String, String, Long) = (b.fileId, b.instantTime, b.fileName, b.sizeBytes)

  def baseOf(b: JsonNode): (String, String, String, Long) =
    (b.path("fileId").asText(), b.path("instant").asText(), b.path("name").asText(), b.path("size").asLong())

  type Slice = (String, String, Option[(String, Long)], Vector[String])

  def sliceOf(s: FileSlice): Slice =
    (s.fileId, s.baseInstantTime, s.baseFile.map(b => b.fileName -> b.sizeBytes), s.logFiles.map(_.fileName))

  def sliceOf(s: JsonNode): Slice = {
    val base = if (s.path("base").isNull) None else Some(s.path("base").asText() -> s.path("baseSize").asLong())
    (s.path("fileId").asText(), s.path("baseInstant").asText(), base, texts(s.path("logs")))
  }
}
