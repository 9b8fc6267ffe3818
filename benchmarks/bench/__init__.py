"""hudiidx, stock Hudi, Iceberg, Delta, hudi-rs and plain Spark on the same rows, by turns: `python -m bench` from `benchmarks/`."""
