package hudiidx.sync

import hudiidx.column.NeverColumns
import hudiidx.store.IndexVersion
import hudiidx.{InvalidOption, Log}

/** A part that has record keys, or hashes of them: there is none where a field of the key is forbidden. */
trait KeysPart extends IndexPart {

  override def holds(version: IndexVersion, never: NeverColumns): Boolean = never.forbidsKeys

  /** One that is asked for is refused, one that an index had is dropped.
    *
    * @param held what the part would hold
    * @param name of the part, for who is to leave it out
    */
  protected def forbidden(state: IndexState, held: String, name: String, isAsked: Boolean, log: Log): PartFiles = {
    val fields = state.never.keysOf(state.table.config).mkString(", ")
    val why = s"$held, which have values of $fields, of which none are to be held (${NeverColumns.OptionName})"
    if (isAsked) throw new InvalidOption(s"${state.table.tablePath}: $why; leave $name out")
    log.warn("{}: it is dropped: {}", state.store.dir: Any, why: Any)
    PartFiles.None
  }
}
