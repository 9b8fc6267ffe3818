"""How long commands take, to the first sign on a terminal and whole, each in a process of its own.

Usage: commands.py [LARGE], with the Python that has the wheel; LARGE is the folder of a large table, as M is.
"""

import fcntl
import os
import pty
import shutil
import statistics
import struct
import sys
import tempfile
import termios
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 5
# Commands and their bars in seconds: to the first sign, and of the whole run without Spark.
FIRST_SIGN = {
    "--help": 0.5,
    "create --help": 0.5,
    "update {t}": 8,
    "verify {t}": 8,
    "prune {t} 'round(fare) > 900'": 8,
    "lookup {t} k000100 --rows": 8,
}
WHOLE = {
    "info {t}": 2,
    "partitions {t}": 2,
    "files {t} --partition sf": 2,
    "lookup {t} k000100 k000120": 2,
    "prune {t} \"fare > 900 and city = 'sf'\"": 2,
    "doctor {t}": 2,
}


def run(command: str) -> tuple[float, float]:
    """Seconds to the first sign and whole, on a terminal of 80 columns. RuntimeError if the command fails."""
    begin = time.monotonic()
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp("/bin/sh", ["sh", "-c", f"exec hudiidx {command}"])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
    first, said = 0.0, b""
    while more := output(terminal):
        first = first or time.monotonic() - begin
        said += more
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(terminal)
    if code:
        raise RuntimeError(f"hudiidx {command} ended with {code}: {said.decode(errors='replace')[-500:]}")
    return first, time.monotonic() - begin


def output(terminal: int) -> bytes:
    """What came next; nothing at the end, which a terminal tells by an error."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def row(command: str, shown: str, bar: float, whole: bool) -> None:
    """Prints medians beside the bar, in seconds, of the whole run or to the first sign."""
    took = [run(command) for _ in range(ROUNDS)]
    first, end = (statistics.median(t[i] for t in took) for i in (0, 1))
    until = "whole" if whole else "to the first sign"
    met = "" if (end if whole else first) < bar else ", missed"
    print(f"| `hudiidx {shown}` | {first:.2f} | {end:.2f} | {bar:g} {until}{met} |", flush=True)


def main() -> None:
    """Prints the table."""
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    work = Path(tempfile.mkdtemp(prefix="hudiidx-commands-"))
    try:
        with zipfile.ZipFile(ROOT / "examples" / "trips.zip") as trips:
            trips.extractall(work)
        table = work / "trips"
        run(f"create {table} --record global --columns ts,fare --bloom rider")
        print("| command | s to the first sign | s whole | bar |\n|---|---|---|---|")
        for commands in (FIRST_SIGN, WHOLE):
            for command, bar in commands.items():
                row(command.format(t=table), command.format(t="trips"), bar, whole=commands is WHOLE)
        for large in sys.argv[1:]:
            page, name = work / "report.html", Path(large).name
            row(f"report {large} -o {page}", f"report {name} -o {name}.html", 20, whole=True)
            print(f"\nThe page of {name} has {page.stat().st_size / 1e6:.2f} MB.")
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
