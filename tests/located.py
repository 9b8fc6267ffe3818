"""The fixtures of whose keys stock Hudi has told the places."""

import pytest
import stored

# Shapes that differ in where keys are: logs, deletes, moved, twice, complex, without partitions.
SAMPLE = (
    "v6-cow-complex",
    "v6-mor-rollback",
    "v8-mor-event",
    "v8-moved-mor",
    "v9-cow-replace",
    "v9-dup-keys",
    "v9-mor-log-only",
)
FIXTURES = [
    pytest.param(n, marks=() if n in SAMPLE else pytest.mark.slow, id=n)
    for n in stored.names()
    if stored.load(n).key_locations()
]
