package hudiidx.spark

import hudiidx.{Causes, DamagedIndex, DamagedTable, HudiIdxException}

/** What the tasks of an index's making, update and verification, and of compactions, end with where the virtual machine has nothing left for them. Over
  * its errors, also as causes of others, Spark ends a process in local mode, and with it the work on other tables.
  */
private[spark] object TaskErrors {

  /** An error of the virtual machine's in `work` is one of ours, without it among the causes. */
  def ours[A](work: => A): A =
    try work
    catch { case e: Throwable if ofMachine(e).isDefined => throw told(e, ofMachine(e).get) }

  private def ofMachine(e: Throwable): Option[VirtualMachineError] =
    Causes.of(e).collectFirst { case found: VirtualMachineError => found }

  private def told(e: Throwable, ofMachine: VirtualMachineError): HudiIdxException = e match {
    case index: DamagedIndex    => new DamagedIndex(index.getMessage)
    case ours: HudiIdxException => new DamagedTable(ours.getMessage)
    case _                      =>
      new DamagedTable(text(ofMachine) + ofMachine.getStackTrace.headOption.fold("")(at => s" ($at)"))
  }

  private def text(e: VirtualMachineError): String = e match {
    case _: StackOverflowError =>
      "a task has no stack left: data in the table's files, or its index's, is nested too deeply; repair the files, or give tasks a larger " +
        "stack, as -Xss16m in spark.executor.extraJavaOptions"
    case _: OutOfMemoryError =>
      s"a task has no memory left (${e.getMessage}): data in the table's files, or its index's, is more than it says or than the process can " +
        "hold; repair the files, or give tasks more memory, as spark.executor.memory=8g, in local mode spark.driver.memory=8g"
    case _ =>
      s"a task was ended by the virtual machine ($e); look at the disks and the memory of its host, and try again"
  }
}
