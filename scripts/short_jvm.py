"""What JVMs that tests start are told: they live for seconds or minutes, and two of them share the cores."""

# With the first compiler alone a JVM keeps 48 MB of code, and a session in need of more loses its context.
FLAGS = ("-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m", "-XX:+UseSerialGC")
