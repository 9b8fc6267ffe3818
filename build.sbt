import SparkVersions.selected

val line = selected

ThisBuild / organization := "io.hudiidx"
ThisBuild / version := Release.version((ThisBuild / baseDirectory).value)
ThisBuild / scalaVersion := line.scala
// Lines of sources for stack traces, but no names of local variables: they take a tenth of the jar.
ThisBuild / scalacOptions ++= Seq("-deprecation", "-feature", "-unchecked", "-Xfatal-warnings", "-encoding", "utf8", "-g:line") ++
  // One source for both Scalas and all libraries: what the older has alone, the newer deprecates.
  (if (line.scala.startsWith("2.13")) Seq("-Xlint:_,-strict-unsealed-patmat", "-Wconf:cat=deprecation&msg=(JavaConverters|decompressedSize|BytesInput|explicit array value|method createTable|method stage(Create|Replace)):s,msg=it will become a keyword in Scala 3:s") else Seq("-Xlint"))
ThisBuild / javacOptions ++= Seq("--release", "17", "-Xlint:all")
ThisBuild / Compile / doc / sources := Nil

// Spark 3.5 on Java 17 reaches into these packages.
val addOpens = Seq("java.lang", "java.lang.invoke", "java.io", "java.net", "java.nio", "java.util", "java.util.concurrent",
  "java.util.concurrent.atomic", "sun.nio.ch", "sun.nio.cs", "sun.security.action", "sun.util.calendar")
  .flatMap { p =>
    val module = "java.base"
    val pkg = if (p.startsWith("sun.")) p else p
    Seq("--add-opens", s"$module/$pkg=ALL-UNNAMED")
  }

// Everything that a Spark installation brings is Provided: the jar carries our classes only.
val jackson = Seq("jackson-core", "jackson-databind").map(a => "com.fasterxml.jackson.core" % a % line.jackson % Provided)
val avro = "org.apache.avro" % "avro" % line.avro % Provided
val zstd = "com.github.luben" % "zstd-jni" % line.zstd % Provided
// zstd in Java, for class paths without zstd-jni. Spark has it too.
val aircompressor = ("io.airlift" % "aircompressor" % Shaded.aircompressor % Provided).intransitive()
val slf4j = "org.slf4j" % "slf4j-api" % "2.0.7" % Provided
val hadoop = Seq(
  "org.apache.hadoop" % "hadoop-client-api" % line.hadoop % Provided,
  "org.apache.hadoop" % "hadoop-client-runtime" % line.hadoop % Provided)
val parquetHadoop = "org.apache.parquet" % "parquet-hadoop" % line.parquet % Provided
val sparkSql = "org.apache.spark" %% "spark-sql" % line.spark % Provided
// XXH64 of another hand, to compare with.
val xxhashOracle = "org.lz4" % "lz4-java" % "1.8.0" % Test
val testing = Seq(
  "org.scalatest" %% "scalatest" % "3.2.19" % Test,
  "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0" % Test)


// HBase's and Hudi's own HFile codecs, to hold ours against in both directions. Listed jar by jar: hbase-server's own
// dependencies are 158 jars, with logging bindings and older Jackson and Avro among them.
val hbase = "2.5.10"
val hfileOracles = (
  Seq("server", "common", "client", "protocol", "protocol-shaded", "hadoop-compat", "hadoop2-compat", "metrics", "metrics-api",
    "zookeeper", "logging").map(a => "org.apache.hbase" % s"hbase-$a" % hbase) ++
    Seq("miscellaneous", "protobuf", "netty", "gson").map(a => "org.apache.hbase.thirdparty" % s"hbase-shaded-$a" % "4.1.5") ++
    Seq("api", "context").map(a => "io.opentelemetry" % s"opentelemetry-$a" % "1.15.0") ++
    Seq(
      "org.apache.hbase.thirdparty" % "hbase-unsafe" % "4.1.5",
      "io.opentelemetry" % "opentelemetry-semconv" % "1.15.0-alpha",
      "org.apache.hadoop" % "hadoop-client-api" % line.hadoop,
      "org.apache.hadoop" % "hadoop-client-runtime" % line.hadoop,
      "org.apache.yetus" % "audience-annotations" % "0.13.0",
      "org.apache.commons" % "commons-lang3" % "3.12.0",
      "commons-io" % "commons-io" % "2.11.0",
      "commons-logging" % "commons-logging" % "1.2",
      "ch.qos.reload4j" % "reload4j" % "1.2.22",
      "com.google.protobuf" % "protobuf-java" % "3.25.5",
      "org.apache.zookeeper" % "zookeeper" % "3.5.7",
      "org.apache.hudi" % "hudi-io" % "1.1.1")
).map(m => (m % Test).intransitive())

val s3proxyRelease = "4.1.0"

// Hadoop's client for S3 without the bundle of every service of AWS, which it would bring.
val s3Clients = Seq("org.apache.hadoop" % "hadoop-aws" % line.hadoop % Test intransitive ()) ++
  (line.hadoop.split('.').take(2).mkString(".") match {
    case "3.3" => Seq("core", "s3", "kms", "sts", "dynamodb").map(a => "com.amazonaws" % s"aws-java-sdk-$a" % "1.12.262" % Test)
    case "3.4" => awsClients("2.29.52")
    // It reads by a stream of another library unless told otherwise.
    case _ => awsClients("2.35.4") :+ "software.amazon.s3.analyticsaccelerator" % "analyticsaccelerator-s3" % "1.3.1" % Test
  })

def awsClients(release: String): Seq[ModuleID] =
  Seq("s3", "s3-transfer-manager", "sts", "apache-client").map(a => "software.amazon.awssdk" % a % release % Test)

val common = Seq(
  // Each line compiles into a folder of its own, so that going from one to another compiles nothing anew.
  target := { if (line == SparkVersions.Spark35) target.value else target.value / s"spark-${line.short}" },
  // Every jar has our licence and notice.
  Compile / resourceGenerators += Def.task {
    Seq("LICENSE", "NOTICE").map { name =>
      val to = (Compile / resourceManaged).value / "META-INF" / name
      IO.copyFile((ThisBuild / baseDirectory).value / name, to)
      to
    }
  }.taskValue,
  Test / fork := true,
  // Tests are linted as 2.12 does it.
  Test / scalacOptions ~= (_.filterNot(_.startsWith("-Xlint:"))),
  // Two such JVMs share the machine's cores: compilers and collectors that run beside the tests take more than they give.
  Test / javaOptions ++= addOpens ++ Seq("-Xmx2g", "-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m", "-XX:+UseSerialGC", "-Djava.net.preferIPv4Stack=true", "-Duser.timezone=UTC"),
  // Java does not follow it by itself.
  Test / javaOptions ++= sys.env.get("TMPDIR").map("-Djava.io.tmpdir=" + _).toSeq,
  Test / parallelExecution := false,
  Test / testOptions += Tests.Argument(TestFrameworks.ScalaTest, "-oDF"),
  libraryDependencies ++= testing)

// Tests of two modules at a time, each in a JVM of its own: much of what they do waits for a disk or a lock.
Global / concurrentRestrictions := Seq(
  Tags.limitAll(math.max(2, EvaluateTask.SystemProcessors)),
  Tags.limit(Tags.ForkedTestGroup, 2),
  Tags.exclusiveGroup(Tags.Clean))

lazy val core = (project in file("jvm/core"))
  .settings(common, name := "hudiidx-core")
  .settings(Compile / sourceGenerators += Def.task(Seq(Release.source((Compile / sourceManaged).value, version.value))).taskValue)
  .settings(libraryDependencies ++= jackson ++ Seq(avro, zstd, aircompressor, slf4j, xxhashOracle) ++ hfileOracles)

// Hadoop's file systems as storage.
lazy val fs = (project in file("jvm/fs"))
  .dependsOn(core % "compile->compile;test->test")
  .settings(common, name := "hudiidx-fs")
  .settings(
    libraryDependencies ++= jackson ++ hadoop ++ Seq(avro, zstd, aircompressor, slf4j),
    // A NameNode; it logs through Log4j 1.
    libraryDependencies ++= Seq(
      "org.apache.hadoop" % "hadoop-client-minicluster" % line.hadoop % Test,
      "ch.qos.reload4j" % "reload4j" % "1.2.22" % Test),
    // A store that speaks S3, in a process of its own, and Hadoop's client of it.
    ivyConfigurations += S3Proxy,
    libraryDependencies ++= s3Clients ++ Seq("org.gaul" % "s3proxy" % s3proxyRelease % S3Proxy),
    s3proxy := s"-Dhudiidx.s3proxy=${update.value.select(configurationFilter(S3Proxy.name)).distinct.mkString(java.io.File.pathSeparator)}",
    Test / javaOptions += s3proxy.value)

// Base files, and file slices merged, without Spark.
lazy val parquet = (project in file("jvm/parquet"))
  .dependsOn(core % "compile->compile;test->test")
  .settings(common, name := "hudiidx-parquet")
  .settings(libraryDependencies ++= jackson ++ hadoop ++ Seq(avro, parquetHadoop, zstd, aircompressor, slf4j))

// What makes, keeps in step, asks and verifies each part of the index, and the command without Spark.
lazy val engine = (project in file("jvm/engine"))
  .dependsOn(fs % "compile->compile;test->test", parquet % "compile->compile;test->test")
  .settings(common, name := "hudiidx-engine")
  .settings(
    libraryDependencies ++= jackson ++ hadoop ++ Seq(avro, parquetHadoop, zstd, aircompressor, slf4j),
    // The example of an index of one's own, on the class path as a user's jar would be.
    Test / unmanagedSourceDirectories += (ThisBuild / baseDirectory).value / "examples" / "quadkey",
    Test / unmanagedResourceDirectories += (ThisBuild / baseDirectory).value / "examples" / "quadkey",
    Test / unmanagedResources / excludeFilter := "*.scala",
    libraryDependencies ++= s3Clients,
    Test / javaOptions += (fs / s3proxy).value)

lazy val S3Proxy = config("s3proxy").hide
lazy val s3proxy = taskKey[String]("The option that tells tests the class path of the S3-compatible server.")

lazy val spark = (project in file("jvm/spark"))
  .dependsOn(engine % "compile->compile;test->test")
  .settings(common, name := "hudiidx-spark")
  .settings(
    Compile / unmanagedSourceDirectories ++= line.shims.map(s => baseDirectory.value / "src" / "main" / s"scala-$s"),
    Compile / unmanagedResourceDirectories ++= line.shims.map(s => baseDirectory.value / "src" / "main" / s"resources-$s"),
    Test / unmanagedSourceDirectories ++= line.shims.map(s => baseDirectory.value / "src" / "test" / s"scala-$s"),
    Test / javaOptions += (fs / s3proxy).value,
    // Half of the time of all suites is this module's: every fourth suite runs in a JVM of its own, two of which run at a time.
    // Without this one waits for the other; within each, suites run one after the other all the same.
    Test / parallelExecution := true,
    Test / testGrouping := {
      val options = (Test / forkOptions).value
      (Test / definedTests).value.sortBy(_.name).zipWithIndex.groupBy(_._2 % 4).map { case (part, tests) =>
        Tests.Group(s"part $part", tests.map(_._1), Tests.SubProcess(options))
      }.toSeq
    },
    libraryDependencies ++= sparkSql +: s3Clients)

// The index class of stock writers, a jar of its own: a writer has it beside the bundle, a reader does not need it. One source
// and one jar for Hudi 0.15.0 to 1.2.0.
lazy val hudi = (project in file("jvm/hudi"))
  .dependsOn(spark % "compile->compile;test->test")
  .settings(common, name := "hudiidx-hudi")
  .settings(libraryDependencies ++= Seq(
    sparkSql,
    "org.apache.hudi" %% s"hudi-spark${line.short}-bundle" % "1.1.1" % Provided intransitive ()))

// Input formats for Hive and MapReduce. Spark runs Hive 2.3, whatever its line, so the line of Scala 2.12 builds them for all.
val hiveVersion = "2.3.9"
val hiveJars = Seq(
  ("org.apache.hive" % "hive-exec" % hiveVersion).classifier("core"),
  "org.apache.hive" % "hive-serde" % hiveVersion,
  "org.apache.hive" % "hive-common" % hiveVersion,
  "org.apache.hive" % "hive-storage-api" % "2.8.1").map(m => (m % Provided).intransitive())

lazy val hive = (project in file("jvm/hive"))
  .dependsOn(engine % "compile->compile;test->test", spark % "test->test")
  .settings(common, name := "hudiidx-hive")
  // The job of the docs.
  .settings(Test / unmanagedSourceDirectories += (ThisBuild / baseDirectory).value / "examples" / "mapreduce")
  .settings(libraryDependencies ++= jackson ++ hadoop ++ hiveJars ++ Seq(avro, parquetHadoop, zstd, slf4j) ++ Seq(
    "org.apache.spark" %% "spark-hive" % line.spark % Test,
    "org.apache.spark" %% "spark-sql" % line.spark % Test))

// The jar for Hive and MapReduce: what such a cluster lacks, or has in another version, is in it under names of ours.
lazy val hiveBundle = (project in file("jvm/hive-bundle"))
  .dependsOn(hive, core % "test->test")
  .settings(common, name := "hudiidx-hive-bundle")
  .settings(
    assembly / assemblyJarName := s"hudiidx-hive_${scalaBinaryVersion.value}-${version.value}.jar",
    assembly / test := {},
    // Parquet's own copy of Jackson is left out: it takes ours, which is one to look after.
    assembly / assemblyShadeRules := Seq(
      "scala" -> "scala",
      "org.apache.avro" -> "avro",
      "org.apache.parquet" -> "parquet",
      "shaded.parquet.com.fasterxml.jackson" -> "jackson",
      "shaded.parquet" -> "parquet.shaded",
      "com.fasterxml.jackson" -> "jackson",
      "org.locationtech.jts" -> "jts",
      "io.airlift" -> "airlift").map { case (from, to) => ShadeRule.rename(s"$from.**" -> s"hudiidx.shaded.$to.@1").inAll },
    // What a part says of itself, so that the audit reads what the jar holds.
    assembly / assemblyMergeStrategy := {
      case name if name.matches("META-INF/(maven/.*/pom.properties|licenses/.*)") => MergeStrategy.deduplicate
      // Of the parts' own the copies are kept, each in the folder of its part.
      case "META-INF/LICENSE" | "META-INF/NOTICE" => MergeStrategy.first
      case name if name.endsWith(".class") && !name.startsWith("META-INF/") && name != "module-info.class" => MergeStrategy.deduplicate
      case _ => MergeStrategy.discard
    },
    Compile / resourceGenerators += Def.task {
      Shaded.papers((Compile / dependencyClasspath).value.files, (Compile / resourceManaged).value)
    }.taskValue,
    assembly := JarCheck.onlyOursForHive(assembly.value, (ThisBuild / baseDirectory).value),
    libraryDependencies ++= Shaded.modules :+ ("org.apache.parquet" % "parquet-jackson" % Shaded.parquet % Test).intransitive(),
    // A cluster without Scala, Parquet or zstd-jni, on which the jar is tried.
    ivyConfigurations += Cluster,
    libraryDependencies ++= Seq(
      "org.apache.hadoop" % "hadoop-client-api" % line.hadoop % Cluster,
      "org.apache.hadoop" % "hadoop-client-runtime" % line.hadoop % Cluster,
      "org.slf4j" % "slf4j-nop" % "1.7.36" % Cluster),
    Test / unmanagedSourceDirectories += (ThisBuild / baseDirectory).value / "examples" / "mapreduce",
    libraryDependencies ++= hadoop :+ zstd,
    Test / javaOptions ++= Seq(
      s"-Dhudiidx.hive.jar=${assembly.value}",
      s"-Dhudiidx.cluster=${update.value.select(configurationFilter(Cluster.name)).distinct.mkString(java.io.File.pathSeparator)}"))

lazy val Cluster = config("cluster").hide

lazy val bundle = (project in file("jvm/bundle"))
  .dependsOn(spark)
  .settings(common, name := "hudiidx-bundle")
  .settings(
    assembly / assemblyJarName := s"hudiidx-spark-${line.short}_${scalaBinaryVersion.value}-${version.value}.jar",
    assembly / assemblyOption ~= (_.withIncludeScala(false)),
    assembly / test := {},
    assembly / assemblyMergeStrategy := {
      case "META-INF/LICENSE" | "META-INF/NOTICE" => MergeStrategy.deduplicate
      // Spark has rows of its own.
      case name if name.startsWith("hudiidx/rows/") => MergeStrategy.discard
      case name => (assembly / assemblyMergeStrategy).value(name)
    },
    assembly := JarCheck.onlyOurs(assembly.value, (ThisBuild / baseDirectory).value),
    libraryDependencies += sparkSql)

// Not part of the build or the tests: `benchmarks/run` compiles and starts it. It brings what a Spark installation would.
lazy val benchmarks = (project in file("benchmarks"))
  .dependsOn(engine)
  .settings(
    name := "hudiidx-benchmarks",
    publish / skip := true,
    libraryDependencies ++= (jackson ++ hadoop ++ Seq(avro, parquetHadoop, zstd, slf4j)).map(_.withConfigurations(None)) ++ Seq(
      "org.apache.parquet" % "parquet-column" % line.parquet,
      "org.slf4j" % "slf4j-nop" % "2.0.7" % Runtime),
    writeClasspath := {
      val file = target.value / "classpath.txt"
      IO.write(file, (Runtime / fullClasspath).value.files.mkString(java.io.File.pathSeparator))
      file
    },
    // Peers run in JVMs of their own, from source files in benchmarks/peers.
    ivyConfigurations ++= peers,
    libraryDependencies ++= sparkPeers.map(c => "org.apache.spark" %% "spark-sql" % line.spark % c) ++ Seq(
      "org.apache.hudi" % "hudi-spark3.5-bundle_2.12" % "1.1.1" % PeerHudi intransitive (),
      // Its incremental reads name a class of Hive.
      "org.apache.hive" % "hive-exec" % "2.3.9" % PeerHudi classifier "core" intransitive (),
      "org.apache.iceberg" % "iceberg-spark-runtime-3.5_2.12" % "1.10.0" % PeerIceberg intransitive (),
      // All table formats in one Spark.
      "org.apache.hudi" % "hudi-spark3.5-bundle_2.12" % "1.1.1" % PeerFormats intransitive (),
      "org.apache.iceberg" % "iceberg-spark-runtime-3.5_2.12" % "1.10.0" % PeerFormats intransitive (),
      "io.delta" %% "delta-spark" % "3.3.2" % PeerFormats,
      // A store for ours.
      "org.apache.hadoop" % "hadoop-client-minicluster" % line.hadoop % PeerHdfs,
      "org.slf4j" % "slf4j-nop" % "1.7.36" % PeerHdfs,
      "ch.qos.reload4j" % "reload4j" % "1.2.22" % PeerHdfs,
      "org.gaul" % "s3proxy" % s3proxyRelease % PeerS3Proxy),
    // For all peers, beside what they have.
    libraryDependencies ++= s3Clients.map(_.withConfigurations(Some(PeerS3.name))),
    writePeerClasspaths := {
      val resolved = update.value
      val folder = target.value
      peers.map { peer =>
        val file = folder / s"${peer.name}.txt"
        val jars = resolved.select(configurationFilter(peer.name))
        IO.write(file, jars.distinct.mkString(java.io.File.pathSeparator))
        file
      }
    })

// HFile readers side by side, in one JMH run: `benchmarks/hfile` starts it.
lazy val jmh = (project in file("benchmarks/jmh"))
  .dependsOn(benchmarks)
  .enablePlugins(JmhPlugin)
  .settings(
    name := "hudiidx-jmh",
    publish / skip := true,
    libraryDependencies ++= hfileOracles.map(_.withConfigurations(None)) :+
      // HBase's zstd codec without Hadoop's native library; 2.5.10 of it is not published.
      ("org.apache.hbase" % "hbase-compression-zstd" % "2.6.1").intransitive(),
    writeClasspath := {
      val file = target.value / "classpath.txt"
      IO.write(file, (Jmh / fullClasspath).value.files.mkString(java.io.File.pathSeparator))
      file
    })

lazy val PeerHudi = config("peer-hudi").hide
lazy val PeerIceberg = config("peer-iceberg").hide
lazy val PeerFormats = config("peer-formats").hide
lazy val PeerHdfs = config("peer-hdfs").hide
lazy val PeerS3 = config("peer-s3").hide
lazy val PeerS3Proxy = config("peer-s3proxy").hide
lazy val sparkPeers = Seq(PeerHudi, PeerIceberg, PeerFormats)
lazy val peers = sparkPeers ++ Seq(PeerHdfs, PeerS3, PeerS3Proxy)
lazy val writeClasspath = taskKey[File]("Writes the run-time class path of the benchmarks to target/classpath.txt.")
lazy val writePeerClasspaths = taskKey[Seq[File]]("Writes the class paths of the benchmarks' peers to target/peer-*.txt.")

lazy val root = (project in file("."))
  .aggregate((Seq[ProjectReference](core, fs, parquet, engine, spark, bundle) ++ (if (line == SparkVersions.Spark35) Seq[ProjectReference](hudi, hive, hiveBundle) else Nil)): _*)
  .settings(name := "hudiidx", publish / skip := true)
