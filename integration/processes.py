"""What a process holds, as the kernel and its JVM tell."""

import os
import re
import subprocess
from pathlib import Path


def live_heap(java: int) -> int:
    """Bytes that live in a JVM's heap, by a count of its objects."""
    counted = subprocess.run(
        ["jcmd", str(java), "GC.class_histogram"], capture_output=True, text=True, check=True
    )
    live = re.search(r"^Total +\d+ +(\d+)", counted.stdout, re.MULTILINE)
    assert live, counted.stdout[-500:]
    return int(live[1])


def resident(pid: int) -> int:
    """Bytes of memory that the process has."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
