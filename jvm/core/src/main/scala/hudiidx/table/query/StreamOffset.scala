package hudiidx.table.query

import scala.collection.JavaConverters._
import scala.collection.immutable.SortedSet

import com.fasterxml.jackson.core.JsonProcessingException
import com.fasterxml.jackson.databind.node.ObjectNode
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import hudiidx.InvalidOption

/** Which commits of a table a stream has given, and so which are left. Instants are requested times. It is kept in checkpoints:
  * docs/format.md, "Offsets of streams".
  *
  * A commit is known by its own name, not by what comes before it: writers complete in any order, and an instant may even appear on
  * the timeline behind later ones. So those since `from` are named one by one; before it all were given but the open ones.
  *
  * @param table   the table's name
  * @param remade  the instant with which hudiidx made the table anew
  * @param changes the stream is one of changes
  * @param begin   commits up to this time are not part of the stream: requested or completion times, as the query has them
  * @param backlog the last commit that was there when the stream began; empty: it began with none
  * @param open    not given, though there are later ones that were
  * @param given   the last one among them
  */
final case class StreamOffset(
    table: String,
    remade: Option[String],
    changes: Boolean,
    begin: String,
    backlog: String,
    from: String = "",
    open: SortedSet[String] = SortedSet.empty,
    given: SortedSet[String] = SortedSet.empty
) {

  def has(instant: String): Boolean = given(instant) || (instant < from && !open(instant))

  /** The last one that was given; empty: none. */
  def newest: String = given.lastOption.getOrElse("")

  /** The last one that was given up to a time, or `from`. */
  def newestUntil(time: String): String = given.filterNot(_ > time).lastOption.getOrElse(from)

  /** As `after` makes them: what is said of `from` and `open` follows from commits that were given. */
  private def isConsistent: Boolean =
    given.headOption.fold(from.isEmpty && open.isEmpty)(_ >= from) && open.forall(_ < newest)

  /** Behind these commits too.
    *
    * @param commits at least one
    * @param known   all writes on the timeline, completed or not
    * @param now     what the reader's clock shows: a commit of a writer whose clock is ahead says nothing of those that come before it
    */
  def after(commits: Iterable[String], known: Iterable[String], now: String): StreamOffset = {
    val all = given ++ commits
    val last = all.last
    val reached = Ordering[String].min(last, now)
    val first = Ordering[String].max(from, IncrementalQuery.hoursBefore(reached, StreamOffset.Hours))
    val left = known.filter(t => t <= last && !has(t) && !all(t))
    copy(from = first, open = SortedSet.empty[String] ++ left, given = all.filter(_ >= first))
  }

  def json: String = {
    val root = StreamOffset.mapper.createObjectNode()
    root.put("version", StreamOffset.Version)
    root.put("table", table)
    remade.foreach(root.put("remade", _))
    root.put("of", if (changes) StreamOffset.Changes else StreamOffset.Rows)
    root.put("begin", begin).put("backlog", backlog).put("from", from)
    def add(name: String, instants: SortedSet[String]): Unit = {
      val array = root.putArray(name)
      instants.foreach(array.add)
    }
    add("open", open)
    add("given", given)
    StreamOffset.mapper.writeValueAsString(root)
  }
}

object StreamOffset {

  /** No instant appears on a timeline so long behind a later one: clocks are set back by an hour, those of machines differ by less, and
    * a writer needs seconds from taking its instant to showing it.
    */
  private[hudiidx] val Hours = 3L

  private val Version = 1
  private val Rows = "rows"
  private val Changes = "changes"
  private val mapper = new ObjectMapper

  /** InvalidOption for what no stream of hudiidx wrote. */
  def parse(json: String): StreamOffset = {
    val root =
      try mapper.readTree(json)
      catch { case e: JsonProcessingException => throw foreign(json, e) }
    root match {
      case o: ObjectNode if o.path("version").isInt =>
        val version = o.get("version").intValue
        if (version < Version) throw foreign(json, null)
        if (version > Version)
          throw new InvalidOption(
            s"checkpointLocation: its offsets are of version $version, which a later hudiidx wrote; read the stream with that one"
          )
        read(o, json)
      case _ => throw foreign(json, null)
    }
  }

  private def read(root: ObjectNode, json: String): StreamOffset = {
    def node(name: String, isRight: JsonNode => Boolean): JsonNode =
      Option(root.get(name)).filter(isRight).getOrElse(throw foreign(json, null))
    def text(name: String): String = node(name, _.isTextual).textValue
    def instants(name: String): SortedSet[String] = {
      val all = node(name, a => a.isArray && a.elements.asScala.forall(_.isTextual)).elements.asScala
      SortedSet.empty[String] ++ all.map(_.textValue)
    }
    val of = text("of")
    if (of != Rows && of != Changes) throw foreign(json, null)
    val remade = if (root.has("remade")) Some(text("remade")) else None
    val offset = StreamOffset(
      text("table"),
      remade,
      of == Changes,
      text("begin"),
      text("backlog"),
      text("from"),
      instants("open"),
      instants("given")
    )
    if (offset.isConsistent) offset else throw foreign(json, null)
  }

  private def foreign(json: String, cause: Throwable): InvalidOption = new InvalidOption(
    s"checkpointLocation: '${json.take(200)}' is not a hudiidx stream offset; use a new checkpoint and " +
      "start after the last processed commit, with hoodie.datasource.streaming.startOffset",
    cause
  )
}
