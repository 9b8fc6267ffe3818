package hudiidx.spark.pinned

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.util.SerializableConfiguration

/** A broadcast that never leaves the machine where it was made. */
final private[spark] class HeldConfiguration(held: SerializableConfiguration)
    extends Broadcast[SerializableConfiguration](-1L) {
  override def getValue(): SerializableConfiguration = held
  override def doUnpersist(blocking: Boolean): Unit = ()
  override def doDestroy(blocking: Boolean): Unit = ()
}
