"""hudiidx, stock Hudi, Iceberg and Delta on a store that is a network away: `python -m on_store` from `benchmarks/`."""
