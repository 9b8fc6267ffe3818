package hudiidx

/** Spans of time as messages tell them. */
object Elapsed {

  /** `120 s`, or `400 ms` where whole seconds would say too little. */
  def text(millis: Long): String = if (math.abs(millis) < 1000) s"$millis ms" else s"${millis / 1000} s"
}
