"""Releases of the peers."""

HUDI = "1.2.0"
ICEBERG = "1.12.0"
DELTA = "3.3.2"
HUDI_RS = "0.5.0"
