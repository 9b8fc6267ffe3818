package org.apache.hadoop.fs.azurebfs

import hudiidx.fs.RelabelledFileSystem
import org.apache.hadoop.fs.{CommonPathCapabilities, Path}

/** By its name Azure's client, which is on no class path of tests; it tells what an account can. */
class AzureBlobFileSystem extends RelabelledFileSystem("abfs") {
  override def hasPathCapability(path: Path, capability: String): Boolean =
    if (capability == CommonPathCapabilities.FS_ACLS) getConf.getBoolean(AzureBlobFileSystem.Hierarchical, false)
    else super.hasPathCapability(path, capability)
}

object AzureBlobFileSystem {
  val Hierarchical = "test.azure.is.hierarchical"
}
