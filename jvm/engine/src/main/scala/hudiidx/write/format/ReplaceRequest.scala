package hudiidx.write.format

import org.apache.avro.Schema
import org.apache.avro.generic.GenericData

/** Content of a requested replacecommit that is no clustering: HoodieRequestedReplaceMetadata, which then says nothing. Format notes
  * §3.3.
  */
private[write] object ReplaceRequest {
  import AvroContent._

  private val schema: Schema = recordOf(
    "HoodieRequestedReplaceMetadata",
    Vector("operationType" -> text, "extraMetadata" -> mapOf(text), "version" -> Schema.create(Schema.Type.INT))
  )

  def content: Array[Byte] = container(new GenericData.Record(schema))
}
