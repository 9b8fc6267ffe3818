package examples.mapreduce;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.ArrayWritable;
import org.apache.hadoop.io.DoubleWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;
import hudiidx.hive.mapreduce.HudiIdxInputFormat;

/** Rows and fares of a Hudi table by city: {@code FareByCity TABLE OUTPUT}, -D options before. */
public final class FareByCity extends Configured implements Tool {

  /** A row has the columns that the job asks for, in that order; what is null in the table is null. */
  public static final class Fares extends Mapper<NullWritable, ArrayWritable, Text, DoubleWritable> {
    @Override
    protected void map(NullWritable key, ArrayWritable row, Context context) throws IOException, InterruptedException {
      Writable city = row.get()[0];
      Writable fare = row.get()[1];
      context.write(
          city == null ? new Text("-") : (Text) city,
          fare == null ? new DoubleWritable(0) : (DoubleWritable) fare);
    }
  }

  public static final class Sum extends Reducer<Text, DoubleWritable, Text, Text> {
    @Override
    protected void reduce(Text city, Iterable<DoubleWritable> fares, Context context)
        throws IOException, InterruptedException {
      long rows = 0;
      double sum = 0;
      for (DoubleWritable fare : fares) {
        rows++;
        sum += fare.get();
      }
      context.write(city, new Text(rows + "\t" + Math.round(sum * 100)));
    }
  }

  @Override
  public int run(String[] args) throws Exception {
    Job job = Job.getInstance(getConf(), "fares by city");
    job.setJarByClass(FareByCity.class);
    job.setInputFormatClass(HudiIdxInputFormat.class);
    FileInputFormat.addInputPath(job, new Path(args[0]));
    HudiIdxInputFormat.setColumns(job.getConfiguration(), new String[] {"city", "fare"});
    job.setMapperClass(Fares.class);
    job.setMapOutputKeyClass(Text.class);
    job.setMapOutputValueClass(DoubleWritable.class);
    job.setReducerClass(Sum.class);
    FileOutputFormat.setOutputPath(job, new Path(args[1]));
    return job.waitForCompletion(true) ? 0 : 1;
  }

  public static void main(String[] args) throws Exception {
    System.exit(ToolRunner.run(new Configuration(), new FareByCity(), args));
  }
}
