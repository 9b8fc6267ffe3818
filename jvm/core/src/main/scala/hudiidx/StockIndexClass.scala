package hudiidx

/** The index class of the module for stock Hudi's writers, as they are told of it (`hoodie.index.class`). Messages name it where that
  * module is not known.
  */
object StockIndexClass {
  val Name = "hudiidx.hudi.RecordIndex"
}
