package hudiidx.engine.record

import hudiidx.store.IndexVersion
import hudiidx.sync._
import hudiidx.table._

/** A file group whose keys may have changed, and what to read of it.
  *
  *  @param isKnown the index has an ordinal of it
  */
private[record] final case class DirtyGroup(group: FileGroup, work: GroupWork, isKnown: Boolean)

/** Finds what must be read of dirty file groups.
  *
  *  @param dated commit times of rows count as well, see [[DirtyGroups]]
  */
private[record] final class DirtyWork(state: IndexState, before: IndexVersion, config: TableConfig, dated: Boolean) {
  private val mergesAlike = RecordPart.mergesAlike(before.properties, config, dated)

  /** Groups without a visible slice, and those that keep their keys, are left out. */
  def works(dirty: DirtyGroups, dictionary: GrowingDictionary): Vector[DirtyGroup] =
    if (dirty.revives) revived(dictionary)
    else {
      val touched = dirty.touches.groupBy(_._1.partitionPath).toVector.flatMap { case (partition, touches) =>
        ofPartition(partition, touches)
      }
      val known = dictionary.known(touched.map(_._1))
      touched.zip(known).flatMap { case ((group, slice, work), isKnown) =>
        if (!isKnown) slice.map(s => DirtyGroup(group, GroupWork.All(s), isKnown))
        else if (work == GroupWork.Unchanged) None
        else Some(DirtyGroup(group, work, isKnown))
      }
    }

  private def ofPartition(
      partition: String,
      touches: Map[FileGroup, GroupTouch]
  ): Vector[(FileGroup, Option[FileSlice], GroupWork)] = {
    val slices = state.view.latestMergedFileSlices(partition).map(s => s.fileId -> s).toMap
    lazy val bases = state.view.allBaseFiles(partition).map(b => (b.fileId, b.instantTime) -> b).toMap
    touches.toVector.map { case (group, touch) =>
      val slice = slices.get(group.fileId)
      val work = GroupWork.of(
        touch,
        slice,
        instant => bases.get((group.fileId, instant)),
        commitTimes = config.populateMetaFields,
        mergesAlike = mergesAlike
      )
      (group, slice, work)
    }
  }

  /** All visible groups: what instants did to a group before it was replaced was never taken in, and which group came back
    * nothing says.
    */
  private def revived(dictionary: GrowingDictionary): Vector[DirtyGroup] =
    state.view.partitions.flatMap { p =>
      val slices = state.view.latestMergedFileSlices(p)
      val groups = slices.map(s => FileGroup(p, s.fileId))
      groups.zip(slices).zip(dictionary.known(groups)).map { case ((g, s), known) =>
        DirtyGroup(g, GroupWork.All(s), known)
      }
    }

  /** The visible slices of groups. */
  def slices(groups: Vector[FileGroup]): Vector[FileSlice] = VisibleSlices.of(state.view, groups.toSet, None)
}

private[record] object VisibleSlices {

  /** The slices that a reader of an instant sees of file groups, by partition path. */
  def of(view: FileSystemView, groups: Set[FileGroup], asOf: Option[String]): Vector[FileSlice] =
    groups.map(_.partitionPath).toVector.sorted.flatMap { partition =>
      view.latestMergedFileSlices(partition, asOf).filter(s => groups(FileGroup(partition, s.fileId)))
    }
}
