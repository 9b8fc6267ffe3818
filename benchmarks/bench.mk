# Targets for benchmarks, included by the Makefile at the top; also usable alone: make -f benchmarks/bench.mk ...
BENCH_ROOT := $(dir $(lastword $(MAKEFILE_LIST)))
DIR ?= /tmp/hudiidx-bench
TABLES ?= C M

.PHONY: bench-tables
# Generated tables of RFC-15's shapes: make bench-tables TABLES="C M" DIR=/tmp/hudiidx-bench
bench-tables:
	$(BENCH_ROOT)run -Xmx3g GenerateTables --dir $(DIR) $(TABLES)
