package hudiidx.sync

import hudiidx.store.WriteBehind

/** Runs independent pieces of work: in this process, or as tasks of a cluster. */
trait TaskEngine {

  /** Pieces that run at once. */
  def parallelism: Int

  /** Answers in the order of the inputs. Inputs, answers and `work` are sent along, so they must be serializable, and the
    * answers small. A piece may run more than once, and at the same time as itself; only one of its answers is taken. The
    * first failure ends the call.
    *
    *  @param what for progress displays: "read 12 file slices"
    */
  def run[A, B](what: String, inputs: Vector[A])(work: (TableAccess, A) => B): Vector[B]

  /** As `run`. `done` is told in the calling thread which pieces are done, by their places; those of a short call only at
    * its end.
    */
  def runShowing[A, B](what: String, inputs: Vector[A], done: Seq[Int] => Unit)(
      work: (TableAccess, A) => B
  ): Vector[B] = {
    val answers = run(what, inputs)(work)
    done(inputs.indices)
    answers
  }
}

object TaskEngine {

  /** What a piece of work gives, once the files that it writes are there. */
  def piece[B](access: TableAccess)(work: TableAccess => B): B =
    WriteBehind.of(access.storage)(s => work(access.over(s)))
}

/** One piece after the other, in this thread. */
final class LocalEngine(access: TableAccess) extends TaskEngine {
  override def parallelism: Int = 1

  override def run[A, B](what: String, inputs: Vector[A])(work: (TableAccess, A) => B): Vector[B] =
    TaskEngine.piece(access)(own => inputs.map(work(own, _)))

  override def runShowing[A, B](what: String, inputs: Vector[A], done: Seq[Int] => Unit)(
      work: (TableAccess, A) => B
  ): Vector[B] = TaskEngine.piece(access) { own =>
    inputs.zipWithIndex.map { case (input, place) =>
      val answer = work(own, input)
      done(Seq(place))
      answer
    }
  }
}
