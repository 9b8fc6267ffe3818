import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/**
 * A NameNode and a DataNode on loopback: `HdfsServer DIR [CLIENTS]` prints the store's URI and ends with its standard input. So many clients keep
 * the NameNode busy meanwhile: they create files and delete them, and list and count a folder of 2,000.
 */
public final class HdfsServer {
  private static final int FILES = 2000;

  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    conf.set("dfs.datanode.hostname", "127.0.0.1");
    try (MiniDFSCluster cluster = new MiniDFSCluster.Builder(conf, new File(args[0])).numDataNodes(1).build()) {
      cluster.waitActive();
      FileSystem fs = cluster.getFileSystem();
      Path folder = new Path("/busy");
      int clients = args.length > 1 ? Integer.parseInt(args[1]) : 0;
      for (int i = 0; clients > 0 && i < FILES; i++) fs.create(new Path(folder, "f" + i)).close();
      for (int client = 0; client < clients; client++) start(fs, folder, client);
      System.out.println(cluster.getURI());
      while (System.in.read() >= 0) { }
      // Clients end with the process.
      System.exit(0);
    }
  }

  private static void start(FileSystem fs, Path folder, int client) {
    Thread thread = new Thread(() -> {
      try {
        for (int n = 0; ; n++) {
          Path made = new Path("/made/" + client + "/" + n);
          fs.create(made).close();
          fs.listStatus(folder);
          fs.getContentSummary(folder);
          fs.delete(made, false);
        }
      } catch (Exception e) {
        System.err.println("client " + client + " ends: " + e);
      }
    });
    thread.setDaemon(true);
    thread.start();
  }
}
