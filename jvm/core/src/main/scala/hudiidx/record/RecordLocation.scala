package hudiidx.record

/** Where a record is: RFC-8's HoodieRecordIndexInfo.
  *
  *  @param instantTime base instant of the file slice that holds the key, as of the reader's instant
  */
final case class RecordLocation(key: String, partitionPath: String, fileId: String, instantTime: String)
