package hudiidx.spark.api

import com.fasterxml.jackson.databind.node.{ArrayNode, JsonNodeFactory}
import hudiidx.column.ColumnExpression
import hudiidx.spark.ColumnAdvice

/** Advice as `HudiIdxApi.recommend` gives it. */
private[api] object AdviceJson {

  def of(advice: Vector[ColumnAdvice]): ArrayNode = {
    val json = JsonNodeFactory.instance.arrayNode()
    advice.foreach { a =>
      json
        .addObject()
        .put("column", ColumnExpression.typed(a.column))
        .put("queries", a.queries)
        .put("files", a.files)
        .put("skipped", a.skipped)
        .put("bytes", a.bytes)
        .put("bytes_skipped", a.bytesSkipped)
        .put("is_indexed", a.isIndexed)
        .put("pointed", a.pointed)
    }
    json
  }
}
