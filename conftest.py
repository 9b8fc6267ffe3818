"""The Spark session serves tests/ and integration/ alike."""

pytest_plugins = ["spark_session"]
