package hudiidx.engine.record

import hudiidx.record.{PackedKeys, RecordIndex}
import hudiidx.table.FileGroup

/** Finds likely causes of sampled differences: where else does the index have the key? */
private[record] final class MappingCauses(index: RecordIndex, scope: CompareScope) {

  def of(samples: Vector[TallySample]): Vector[MappingDifference] = {
    val keys = PackedKeys.of(samples.map(_.key))
    val found = index.lookup(keys)
    samples.zipWithIndex.map { case (sample, i) =>
      val elsewhere = (found.starts(i) until found.starts(i + 1)).map(found.ordinals(_)).filter(_ != sample.ordinal)
      val group = scope.group(sample.ordinal, index.dictionary)
      val (detail, cause) = explain(sample, elsewhere.filter(index.dictionary.isCurrent))
      MappingDifference(sample.kind, sample.key, group.partitionPath, group.fileId, detail, cause)
    }
  }

  private def explain(sample: TallySample, elsewhere: Seq[Int]): (String, String) = {
    val others = elsewhere.take(3).map(o => place(scope.group(o, index.dictionary))).mkString(", ")
    sample.kind match {
      case MappingKind.Missing if scope.isStranger(sample.ordinal) =>
        ("a live record has the key, the index does not know its file group", "the index lost an instant")
      case MappingKind.Missing if elsewhere.nonEmpty =>
        (
          s"a live record has the key, the index has it only in $others",
          "the index lost an update that moved the key, or the base file was replaced behind the timeline"
        )
      case MappingKind.Missing =>
        (
          "a live record has the key, the index does not",
          "the index lost a delta, or the base file was replaced behind the timeline"
        )
      case MappingKind.Extra =>
        (
          "the index has the key there, no live record of the file slice has it" +
            (if (elsewhere.isEmpty) "" else s"; it has it in $others too"),
          "the index lost the delete or move of the key, or the base file was replaced behind the timeline"
        )
      case _ =>
        ("\"may be deleted\" on one side only", "log blocks were compacted or written without the index noticing")
    }
  }

  private def place(group: FileGroup): String =
    if (group.partitionPath.isEmpty) group.fileId else s"${group.partitionPath}/${group.fileId}"
}
