package hudiidx.storage

/** The right to go on, for as long as the others wait for its holder. Stores have no clock that all agree on, and a process may
  * stand still at any moment: so others take the holder for dead only after the whole term, by their own clocks, and the holder
  * begins nothing more by it behind the half.
  */
final case class Lease(termMillis: Long) {

  /** Others may take it, after so long without a sign of its holder. */
  def isOver(silentMillis: Long): Boolean = silentMillis > termMillis

  /** Its holder asks anew before it goes on. */
  def isSpent(heldMillis: Long): Boolean = heldMillis > termMillis / 2
}
