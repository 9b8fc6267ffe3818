package hudiidx.spark.prune

import org.apache.spark.sql.internal.SQLConf

/** Makes expressions ready for evaluation without a look for parts that are the same: for choices in one another, as
  * `if(if(if(…` or `coalesce(coalesce(…`, Spark takes twice as long for it with each of them.
  */
private[spark] object WithoutSharing {
  def apply[A](conf: SQLConf)(work: => A): A = {
    val own = conf.clone()
    own.setConf(SQLConf.SUBEXPRESSION_ELIMINATION_ENABLED, false)
    SQLConf.withExistingConf(own)(work)
  }
}
