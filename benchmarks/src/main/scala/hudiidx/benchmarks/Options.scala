package hudiidx.benchmarks

/** A command line in parts: `--name value`, `--flag`, and what is left. */
final case class Options(values: Map[String, String], flags: Set[String], rest: Vector[String]) {
  def value(name: String): Option[String] = values.get(name)

  def apply(name: String): String =
    values.getOrElse(name, throw new IllegalArgumentException(s"option --$name is missing"))

  def flag(name: String): Boolean = flags(name)
}

object Options {

  def parse(args: Array[String], valued: Set[String], flags: Set[String]): Options = {
    var options = Options(Map.empty, Set.empty, Vector.empty)
    var at = 0
    while (at < args.length) {
      val name = args(at).stripPrefix("--")
      if (!args(at).startsWith("--")) options = options.copy(rest = options.rest :+ args(at))
      else if (flags(name)) options = options.copy(flags = options.flags + name)
      else if (valued(name) && at + 1 < args.length) {
        options = options.copy(values = options.values + (name -> args(at + 1)))
        at += 1
      } else throw new IllegalArgumentException(s"unknown option or missing value: ${args(at)}")
      at += 1
    }
    options
  }
}
