package hudiidx

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.StandardOpenOption.{APPEND, CREATE}
import java.nio.file.{Files, Paths}

/** How much tests have tried, for docs/reliability.md: each count is a line of the file that HUDIIDX_FIGURES names, where it is set. */
object Figures {
  private val file = sys.env.get("HUDIIDX_FIGURES").map(Paths.get(_))

  /** @param what counted things in words, the same in all places that count them: they are added up */
  def add(what: String, count: Long): Unit = file.foreach { f =>
    synchronized(Files.write(f, s"$what\t$count\n".getBytes(UTF_8), CREATE, APPEND): Unit)
  }
}
