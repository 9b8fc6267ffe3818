package hudiidx

/** Values by key, those asked for last, up to a weight; the one put last always stays. Safe for several threads.
  *
  *  @param most   weight of all values together
  *  @param weight of a value, always the same
  */
final class RecentlyUsed[K, V >: Null <: AnyRef](most: Long)(weight: V => Long) {
  private val values = new java.util.LinkedHashMap[K, V](16, 0.75f, true)
  private var held = 0L

  /** Null for a key that is not here, or no more. */
  def get(key: K): V = synchronized(values.get(key))

  def put(key: K, value: V): Unit = synchronized {
    val before = values.put(key, value)
    held += weight(value) - (if (before == null) 0L else weight(before))
    val oldest = values.values.iterator
    while (held > most && values.size > 1) {
      held -= weight(oldest.next())
      oldest.remove()
    }
  }

  def clear(): Unit = synchronized {
    values.clear()
    held = 0L
  }

  /** What there is for the key, made if there is nothing. Two callers at once may both make it. */
  def getOrPut(key: K)(make: => V): V = {
    val known = get(key)
    if (known != null) known
    else {
      val made = make
      put(key, made)
      made
    }
  }
}
