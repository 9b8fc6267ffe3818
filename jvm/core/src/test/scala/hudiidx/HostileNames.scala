package hudiidx

import org.scalacheck.Gen

/** Names as others may choose them: what shells, SQL, lists and terminals have a meaning for, in any order. */
object HostileNames {
  private val bits = Vector(
    "a",
    "fare",
    "record",
    "logs",
    "null",
    "1",
    " ",
    "\t",
    "\n",
    "\r",
    "'",
    "\"",
    "`",
    "\\",
    "$(id)",
    "$" + "{env:HOME}",
    "$x",
    "`id`",
    ";",
    "#",
    ",",
    ".",
    "=",
    "*",
    "?",
    "[a]",
    "{a,b}",
    "(",
    ")",
    "()",
    "-",
    "--",
    "--kind",
    "!",
    "!!",
    "&",
    "|",
    "<",
    ">",
    "~",
    "/",
    "../",
    ":",
    "%",
    "@",
    "+",
    "=ls",
    "'$(id)'",
    "\\u0041",
    "\\n",
    "--;",
    "/*",
    "*/",
    "ü",
    "日本",
    "\u001b[31m",
    "\u0007",
    "\u0001",
    "\u0080",
    "\u202e",
    "\u2028",
    "\ufeff",
    new String(Character.toChars(0x1f600)),
    "x://u:p@h"
  )

  val any: Gen[String] = Gen.choose(1, 6).flatMap(Gen.listOfN(_, Gen.oneOf(bits))).map(_.mkString)

  /** Each bit alone too. */
  val fixed: Vector[String] = bits
}
