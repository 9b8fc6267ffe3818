package hudiidx.column.expression

import hudiidx.column.expression.ExpressionTree.{Call, Cast, Column, Constant}

/** The text in which an index keeps an expression: docs/format.md, "Expressions". Each tree has one text, which is all that is read
  * as that tree.
  */
object ExpressionText {

  def of(tree: ExpressionTree): String = tree match {
    case Column(parts)            => parts.map(quoted).mkString(".")
    case Constant(t, value)       => s"[$t]${value.fold("null")(quoted)}"
    case Cast(child, t, isTry)    => s"${if (isTry) TryCast else CastName}[$t](${of(child)})"
    case Call(function, children) => s"$function(${children.map(of).mkString(", ")})"
  }

  /** Left tells why the text is none, or too large to be looked at. */
  def parse(text: String): Either[String, ExpressionTree] =
    if (text.length > ExpressionLimits.MostText) Left(ExpressionLimits.tooLong)
    else
      try {
        val tree = new Reader(text).whole()
        if (of(tree) == text) ExpressionTree.refusal(tree).toLeft(tree)
        else Left("it is not written as expressions are")
      } catch { case e: Malformed => Left(e.getMessage) }

  private val CastName = "cast"
  private val TryCast = "try_cast"

  private def quoted(value: String): String = {
    val out = new StringBuilder("\"")
    value.foreach {
      case c @ ('"' | '\\') => out.append('\\').append(c)
      case c if Character.isISOControl(c) || Character.isSurrogate(c) || c == '\u2028' || c == '\u2029' =>
        out.append(f"\\u${c.toInt}%04x")
      case c => out.append(c)
    }
    out.append('"').toString
  }

  final private class Malformed(message: String) extends Exception(message, null, false, false)

  /** Goes down no deeper than trees may. */
  final private class Reader(text: String) {
    private var at = 0
    private var nodes = 0

    def whole(): ExpressionTree = {
      val tree = next(1)
      if (at < text.length) fail("nothing more")
      tree
    }

    private def next(depth: Int): ExpressionTree = {
      nodes += 1
      if (depth > ExpressionLimits.MostDepth) throw new Malformed(ExpressionLimits.tooDeep)
      if (nodes > ExpressionLimits.MostNodes) throw new Malformed(ExpressionLimits.tooMany)
      peek match {
        case '"'                                => column()
        case '[' if !text.startsWith("[](", at) =>
          val t = typeName()
          Constant(t, if (take("null")) None else Some(string()))
        case _ => call(depth)
      }
    }

    private def column(): Column = {
      val parts = Vector.newBuilder[String]
      parts += string()
      while (take(".")) parts += string()
      Column(parts.result())
    }

    private def call(depth: Int): ExpressionTree = {
      val from = at
      while (at < text.length && "(\"".indexOf(peek.toInt) < 0 && !(peek == '[' && at > from)) at += 1
      if (text.startsWith("[](", from)) at = from + 2
      val name = text.substring(from, at)
      if (peek == '[') {
        val t = typeName()
        if (name != CastName && name != TryCast) fail(s"$CastName or $TryCast")
        expect("(")
        val child = next(depth + 1)
        expect(")")
        Cast(child, t, name == TryCast)
      } else Call(name, arguments(depth))
    }

    private def arguments(depth: Int): Vector[ExpressionTree] = {
      expect("(")
      val found = Vector.newBuilder[ExpressionTree]
      if (!take(")")) {
        found += next(depth + 1)
        while (take(", ")) found += next(depth + 1)
        expect(")")
      }
      found.result()
    }

    private def typeName(): String = {
      expect("[")
      val end = text.indexOf(']', at)
      if (end < 0) fail("a type")
      val name = text.substring(at, end)
      at = end + 1
      name
    }

    private def string(): String = {
      expect("\"")
      val out = new StringBuilder
      while (peek != '"') {
        val c = peek
        at += 1
        out.append(if (c == '\\') escaped() else c)
      }
      at += 1
      out.toString
    }

    private def escaped(): Char = {
      val c = peek
      at += 1
      if (c != 'u') c
      else {
        val digits = text.slice(at, at + 4)
        if (!digits.matches("[0-9a-f]{4}")) fail("four hexadecimal digits")
        at += 4
        Integer.parseInt(digits, 16).toChar
      }
    }

    private def peek: Char = if (at < text.length) text.charAt(at) else fail("more")

    private def take(token: String): Boolean = {
      val isHere = text.startsWith(token, at)
      if (isHere) at += token.length
      isHere
    }

    private def expect(token: String): Unit = if (!take(token)) fail(token)

    private def fail(wanted: String): Nothing = throw new Malformed(s"character ${at + 1} should be $wanted")
  }
}
