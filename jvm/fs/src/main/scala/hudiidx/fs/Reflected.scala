package hudiidx.fs

import java.lang.reflect.{InvocationTargetException, Method, Modifier}

import scala.collection.JavaConverters._

/** Calls of classes that are known at run time alone. */
private[fs] object Reflected {

  def itemsOf(answer: AnyRef, list: String): Vector[AnyRef] =
    call(answer, list).asInstanceOf[java.util.List[AnyRef]].asScala.toVector

  /** Of each item what its methods give; they are looked for once. */
  def mapped[A](answer: AnyRef, list: String, names: String*)(made: PartialFunction[Seq[Any], A]): Vector[A] = {
    val items = itemsOf(answer, list)
    lazy val methods = names.map(name => method(items.head, name, Nil))
    items.map(item => made(methods.map(m => invoked(m, item))))
  }

  def hasMethod(target: AnyRef, name: String): Boolean =
    target.getClass.getMethods.exists(m => m.getName == name && m.getParameterCount == 0)

  /** Calls a public method by the types that it is declared with, whatever the class that implements it. */
  def call(target: AnyRef, name: String, arguments: (Class[_], Any)*): AnyRef =
    invoked(method(target, name, arguments.map(_._1)), target, arguments.map(_._2.asInstanceOf[AnyRef]): _*)

  private def method(target: AnyRef, name: String, types: Seq[Class[_]]): Method = {
    val declared = publicTypes(target.getClass).iterator
      .flatMap(c => c.getMethods.find(m => m.getName == name && m.getParameterTypes.toSeq == types))
    if (!declared.hasNext) throw new NoSuchMethodException(s"${target.getClass.getName}.$name")
    declared.next()
  }

  private def invoked(method: Method, target: AnyRef, arguments: AnyRef*): AnyRef =
    try method.invoke(target, arguments: _*)
    catch { case e: InvocationTargetException => throw e.getCause }

  /** Methods of a class that is not public are called through what it extends. */
  private def publicTypes(c: Class[_]): Vector[Class[_]] =
    if (c == null) Vector.empty
    else {
      val above = c.getInterfaces.toVector.flatMap(publicTypes) ++ publicTypes(c.getSuperclass)
      if (Modifier.isPublic(c.getModifiers)) c +: above else above
    }
}
