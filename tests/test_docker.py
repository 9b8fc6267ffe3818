"""What can be checked of docker/ without an engine: linter, schema, and that what it copies is there."""

import os
import re
import subprocess
import sys
from pathlib import Path

from stored import ROOT

DOCKER = ROOT / "docker"
BIN = Path(sys.executable).parent


def run(*command: object) -> None:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_dockerfile_passes_its_linter() -> None:
    run(BIN / "hadolint", DOCKER / "Dockerfile")


def test_the_compose_file_is_one_by_its_schema() -> None:
    run(BIN / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", DOCKER / "compose.yaml")


def test_what_the_image_copies_is_in_the_project() -> None:
    copied = re.findall(r"^COPY (\S+)", (DOCKER / "Dockerfile").read_text(), re.MULTILINE)
    assert "docker/spark-node" in copied
    for path in copied:  # the wheel is there once it was built
        assert path == "dist/*.whl" or (ROOT / path).exists(), path
    assert os.access(DOCKER / "spark-node", os.X_OK)


def images() -> list[str]:
    """Those that are fetched, as they are written; what the compose file builds it names itself."""
    bases = re.findall(r"^FROM (\S+)", (DOCKER / "Dockerfile").read_text(), re.MULTILINE)
    named = re.findall(r"^ +image: (.+)$", (DOCKER / "compose.yaml").read_text(), re.MULTILINE)
    return [*bases, *(n for n in named if not n.startswith("hudiidx-spark:"))]


def test_images_are_taken_by_digests_that_have_no_default() -> None:
    assert len(images()) >= 2
    for image in images():
        assert re.search(r"@(sha256:[0-9a-f]{64}|\$\{\w+_DIGEST(:\?[^}]+)?\})$", image), image
    assert re.findall(r"^ARG (\w+_DIGEST.*)$", (DOCKER / "Dockerfile").read_text(), re.MULTILINE) == [
        "PYTHON_DIGEST"
    ]
    assert "PYTHON_DIGEST: ${PYTHON_DIGEST:?" in (DOCKER / "compose.yaml").read_text()


def test_the_node_script_says_what_it_takes() -> None:
    done = subprocess.run([DOCKER / "spark-node", "boss"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "spark-node: 'boss' is neither master nor worker\n")
