# make build | hive | quickstart | docs | docs-options | test | test-fast | test-all | test-lines | test-cluster | test-presto | bugs | reliability | fuzz | mutation | audit | reproducible | bench | report-pictures | lint | format | bundles | clean
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := build
.PHONY: build lines hive quickstart docs docs-options test test-fast test-all test-lines test-cluster test-presto bugs reliability fuzz mutation audit reproducible bench report-pictures lint format bundles clean preflight

VERSION := $(shell sed -n 's/^__version__ = "\(.*\)"$$/\1/p' python/hudiidx/_version.py)
# One jar for each Spark line; the wheel carries them all.
JAR := dist/hudiidx-spark-3.5_2.12-$(VERSION).jar
LINES := $(shell sed -n 's/.*SparkLine."\(4\.[0-9]*\)\.[0-9]*".*/\1/p' project/SparkVersions.scala)
JARS_4 := $(LINES:%=dist/hudiidx-spark-%_2.13-$(VERSION).jar)
WRITER_JAR_NAME := hudiidx-hudi_2.12-$(VERSION).jar
HIVE_JAR := dist/hudiidx-hive_2.12-$(VERSION).jar
WHEEL := dist/hudiidx-$(VERSION)-py3-none-any.whl
ifdef JAVA_HOME
export PATH := $(JAVA_HOME)/bin:$(PATH)
endif
PY := .venv/bin/python
HUDI_BUNDLE := hudi-spark3.5-bundle_2.12
# Those that integration/stock_hudi.py runs.
HUDI_VERSIONS := $(shell sed -n 's/^ *"stock_[0-9_]*": Release."\([0-9.]*\)".*/\1/p' integration/stock_hudi.py)
HUDI_JARS := $(HUDI_VERSIONS:%=build/lib/$(HUDI_BUNDLE)-%.jar)

OTHER_JARS := $(addprefix build/lib/,iceberg-spark-runtime-3.5_2.12-1.12.0.jar delta-spark_2.12-3.3.2.jar delta-storage-3.3.2.jar)
# The jar that a rule is about, by its group; the rest is in its name: <artifact>-<version>.jar.
COPY_JAR = scripts/preflight && mkdir -p build/lib && \
  mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
  -Dartifact=$(1):$(patsubst %-$*.jar,%,$(@F)):$* -DoutputDirectory=$(CURDIR)/build/lib && touch $@

JVM_SOURCES := build.sbt python/hudiidx/_version.py $(wildcard project/*.scala project/*.sbt project/build.properties) \
  $(shell find jvm -path '*/src/main/*' -type f)
PY_SOURCES := LICENSE NOTICE python/pyproject.toml $(shell find python/hudiidx -type f -not -path '*/jars/*' -not -name '*.pyc')
STAMPS := .venv/.stamps
SBT := project/target/.stamp
# What a wheel says of its files' age: that of the commit.
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 1735689600)

build: $(STAMPS)/wheel

preflight:
	@scripts/preflight

# All lines' jars, two at a time: a compiler keeps one core busy. The third leaves a core to what WITH names.
JARS := dist/.stamp
$(JARS): $(JVM_SOURCES) $(SBT)
	@mkdir -p dist
	@$(MAKE) --no-print-directory -j2 $(JAR) $(JARS_4) $(WITH)
	@touch $@

# The build of sbt compiles itself once, before two of it run.
$(SBT): build.sbt $(wildcard project/*.scala project/*.sbt project/build.properties)
	@scripts/preflight
	build/sbt version
	@touch $@

# The jar that users get: every class of ours, nothing that Spark brings. Beside it the small one for Hudi's writers, which is
# audited here; the others are where they are assembled.
$(JAR): $(JVM_SOURCES) $(SBT)
	build/sbt bundle/assembly hudi/package
	python3 scripts/audit.py jvm/hudi/target/scala-2.12/$(WRITER_JAR_NAME)
	cp jvm/hudi/target/scala-2.12/$(WRITER_JAR_NAME) dist/
	cp jvm/bundle/target/scala-2.12/$(@F) $@

# The same for Spark 4, without the writers' jar, which is for stock Hudi's bundle of Spark 3.5.
$(JARS_4): dist/hudiidx-spark-%_2.13-$(VERSION).jar: $(JVM_SOURCES) $(SBT)
	HUDIIDX_SPARK=$* build/sbt bundle/assembly
	cp jvm/bundle/target/spark-$*/scala-2.13/$(@F) $@

# The jar for Hive and MapReduce, for who wants it: no other target needs it.
hive: $(HIVE_JAR)

$(HIVE_JAR): $(JVM_SOURCES)
	@scripts/preflight
	build/sbt hiveBundle/assembly
	@mkdir -p dist
	cp jvm/hive-bundle/target/scala-2.12/$(@F) $@

# What is installed is known by its hash, and has no known hole; those who build packages come first.
PIP_INSTALL := bin/pip install --quiet --disable-pip-version-check --require-hashes
BUILDERS := python/requirements-build.txt

$(STAMPS)/venv: python/requirements-dev.txt $(BUILDERS)
	@scripts/preflight
	python3 scripts/audit.py
	rm -rf .venv
	"$$(scripts/preflight --python)" -m venv .venv
	.venv/$(PIP_INSTALL) -r $(BUILDERS)
	.venv/$(PIP_INSTALL) --no-build-isolation -r python/requirements-dev.txt
	@mkdir -p $(STAMPS) && touch $@

$(WHEEL): $(JARS) $(PY_SOURCES) $(STAMPS)/venv
	rm -rf dist/*.whl python/hudiidx/jars
	@mkdir -p python/hudiidx/jars
	cp $(JAR) $(JARS_4) dist/$(WRITER_JAR_NAME) python/hudiidx/jars/
	.venv/bin/pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation -w dist ./python
	@touch $@

$(STAMPS)/wheel: $(WHEEL)
	.venv/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall $(WHEEL)
	@touch $@

# An environment of each Spark 4: its PySpark, what the wheel and pytest need at the releases of .venv, and then the wheel.
build/lines/%/.pyspark: python/requirements-spark-%.txt $(BUILDERS)
	@scripts/preflight
	rm -rf $(@D)
	"$$(scripts/preflight --python)" -m venv $(@D)
	$(@D)/$(PIP_INSTALL) -r $(BUILDERS)
	$(@D)/$(PIP_INSTALL) --no-build-isolation -r $<
	@touch $@

build/lines/%/.stamp: build/lines/%/.pyspark $(WHEEL)
	$(@D)/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall $(WHEEL)
	@touch $@

PYSPARKS := $(LINES:%=build/lines/%/.pyspark)
.SECONDARY: $(PYSPARKS)
lines: $(LINES:%=build/lines/%/.stamp)

# What tests alone need: readers of files beside Spark, linters of docker/
$(STAMPS)/tests: python/requirements-tests.txt $(STAMPS)/venv
	.venv/$(PIP_INSTALL) -r python/requirements-tests.txt
	@touch $@

# The headless Chromium in which tests look at the report's page.
BROWSER := tests/page/node_modules/.stamp
$(BROWSER): tests/page/package-lock.json tests/page/.npmrc
	@scripts/preflight --node
	cd tests/page && npm ci --no-progress --loglevel=error
	@touch $@

# Stock Hudi, for the tests that ask it: one Spark bundle for each table version, and the newest release.
build/lib/$(HUDI_BUNDLE)-%.jar:
	@$(call COPY_JAR,org.apache.hudi)

# Other formats, that a class path may hold beside ours.
build/lib/iceberg-spark-runtime-3.5_2.12-%.jar: ; @$(call COPY_JAR,org.apache.iceberg)
build/lib/delta-spark_2.12-%.jar: ; @$(call COPY_JAR,io.delta)
build/lib/delta-storage-%.jar: ; @$(call COPY_JAR,io.delta)

bundles: $(HUDI_JARS) $(OTHER_JARS)

# A Presto server with nothing but Hive's connector; half a gigabyte to fetch.
PRESTO := build/lib/presto-server-350
$(PRESTO)/.stamp:
	@scripts/preflight
	@mkdir -p build/lib
	mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -Dartifact=io.prestosql:presto-server:350:tar.gz -DoutputDirectory=$(CURDIR)/build/lib
	tar xzf $(PRESTO).tar.gz -C build/lib
	@find $(PRESTO)/plugin -mindepth 1 -maxdepth 1 -not -name hive-hadoop2 -exec rm -rf {} +
	@rm $(PRESTO).tar.gz && touch $@

# With the jar of one Spark line; `make build` makes the others too.
quickstart: $(JAR) $(STAMPS)/venv
	@mkdir -p python/hudiidx/jars && cp $(JAR) python/hudiidx/jars/
	@PYTHONPATH=python $(PY) examples/quickstart.py

# The site of docs/, in build/docs; any warning is an error. Its tools have an environment of their own.
docs: build/docs-venv/.stamp
	rm -rf build/docs
	build/docs-venv/bin/sphinx-build -q -W --keep-going -b html docs build/docs
	@echo build/docs/index.html

build/docs-venv/.stamp: python/requirements-docs.txt
	@scripts/preflight
	rm -rf build/docs-venv
	"$$(scripts/preflight --python)" -m venv build/docs-venv
	build/docs-venv/$(PIP_INSTALL) -r python/requirements-docs.txt
	@touch $@

# The tables of docs/options.md, from what the code declares.
docs-options: build
	@$(PY) scripts/options_page.py

test: ready
	@$(PY) scripts/run_tests.py test

# All that the tests need. Downloads and environments are made while the jars are; what Maven fetches, one by one.
.PHONY: ready fetched test-classes
ready:
	@$(MAKE) --no-print-directory -j3 WITH=test-classes $(JARS) $(STAMPS)/tests fetched $(BROWSER) $(PYSPARKS)
	@$(MAKE) --no-print-directory build lines

test-classes: $(JAR)
	build/sbt Test/compile

fetched: $(SBT)
	@$(MAKE) --no-print-directory -j1 bundles

test-fast: build lines
	@$(PY) scripts/run_tests.py fast

test-all: ready $(PRESTO)/.stamp
	@scripts/test_lines
	@$(PY) scripts/run_tests.py all

# Plants bugs, one after the other: each must be caught by the test that it names.
bugs: $(STAMPS)/venv
	@$(PY) scripts/seeded_bugs.py

# Hours of what tries hudiidx hardest, or PARTS of it; how much was tried goes to docs/reliability.md.
reliability: build bundles $(STAMPS)/tests
	@$(PY) scripts/reliability.py $(PARTS)

# A coverage-guided fuzzer on every parser, SECONDS each.
SECONDS_EACH := 60
fuzz: preflight
	@scripts/fuzz $(SECONDS_EACH)

# Changes core's code in small ways, in all PACKAGES or those named, and looks which changes no test notices.
mutation: $(STAMPS)/venv
	@build/sbt core/Test/compile
	@$(PY) scripts/mutation.py $(PACKAGES)

# Known holes of what jars hold and of the packages that are pinned, by scripts/advisories.tsv.
audit: hive $(JARS)
	@$(PY) scripts/audit.py
	@$(PY) scripts/audit.py $(HIVE_JAR) $(JAR) $(JARS_4) dist/$(WRITER_JAR_NAME)

# Builds jars and wheel twice, in two folders, and compares them byte by byte.
reproducible:
	@scripts/reproducible

# hudiidx and its peers side by side, for benchmarks/RESULTS.md; tables are kept in DIR, of which the first run takes longer.
bench: build bundles $(STAMPS)/bench
	@PYTHONPATH=benchmarks $(PY) -m bench $(DIR)

$(STAMPS)/bench: benchmarks/requirements.txt $(STAMPS)/venv
	.venv/$(PIP_INSTALL) -r benchmarks/requirements.txt
	@touch $@

# The pictures of docs/report.md; LARGE is the folder of a large table, such as M of benchmarks/README.md.
report-pictures: build $(BROWSER)
	@$(PY) scripts/report_pictures.py $(LARGE)

# The tests beside stock Hudi with our session on executors that are processes: a local cluster, then a standalone master with two workers.
test-cluster: build bundles $(STAMPS)/tests $(BROWSER)
	@$(PY) scripts/run_tests.py cluster

# Presto reads tables through symlink manifests.
test-presto: build $(STAMPS)/tests $(PRESTO)/.stamp
	@$(PY) -m pytest -q -m slow integration/test_presto.py

# The Scala suites on each Spark 4, then the tests of lines/, each in an environment of that PySpark.
test-lines: build lines
	@scripts/test_lines

lint: build
	@$(PY) scripts/run_tests.py lint

format: $(STAMPS)/venv
	build/sbt scalafmtAll
	.venv/bin/ruff check --fix python tests integration lines checks examples scripts
	.venv/bin/ruff format python tests integration lines checks examples scripts

clean:
	rm -rf .venv dist build/lib build/docs build/docs-venv build/lines build/test-reports tests/page/node_modules python/hudiidx/jars .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -type d \( -name target -o -name __pycache__ \) -prune -exec rm -rf {} +

-include benchmarks/bench.mk
