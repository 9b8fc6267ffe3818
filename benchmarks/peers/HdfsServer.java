import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/** A NameNode and a DataNode on loopback: `HdfsServer DIR` prints the store's URI and ends with its standard input. */
public final class HdfsServer {
  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    conf.set("dfs.datanode.hostname", "127.0.0.1");
    try (MiniDFSCluster cluster = new MiniDFSCluster.Builder(conf, new File(args[0])).numDataNodes(1).build()) {
      cluster.waitActive();
      System.out.println(cluster.getURI());
      while (System.in.read() >= 0) { }
    }
  }
}
