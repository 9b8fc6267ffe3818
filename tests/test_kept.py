"""docs/kept.md: what is kept beyond the call that read it, and by which key."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "kept.md"
KEEPERS = (
    r"new RecentlyUsed\[|ConcurrentHashMap|TrieMap|WeakHashMap|SoftReference|WeakReference|0\.75f, true"
    r"|new BlockCache|mutable\.(?:Linked)?HashMap\.empty|new (?:java\.util\.|util\.)?(?:Linked)?HashMap\["
)
FIELD = re.compile(
    rf"^(?:  (?:private )?|    private )(?:@\w+ )*(?:private(?:\[\w+\])? )?(?:lazy )?val (\w+)\b"
    rf"[^{{]*?(?:{KEEPERS})"
)
PYTHON = re.compile(r"^ *@(?:functools\.)?(cache|lru_cache|cached_property)\b|[ (](cache|lru_cache)\(")
ROW = re.compile(r"^\| `([\w.]+) (\w+)` \| (.+?) \| (.+?) \| (.+?) \|$")


def _in_scala() -> set[tuple[str, str]]:
    found = set()
    for file in ROOT.glob("jvm/*/src/main/**/*"):
        if file.suffix in (".scala", ".java"):
            for line in re.sub(r"=\n +", "= ", file.read_text(encoding="utf-8")).splitlines():
                if field := FIELD.match(line):
                    found.add((file.name, field[1]))
    return found


def _in_python() -> set[tuple[str, str]]:
    found = set()
    for file in ROOT.glob("python/hudiidx/**/*.py"):
        for line in file.read_text(encoding="utf-8").splitlines():
            if (hit := PYTHON.search(line)) and "import" not in line:
                found.add((file.name, hit[1] or hit[2]))
    return found


def _rows() -> dict[tuple[str, str], tuple[str, str, str]]:
    rows = [m for line in PAGE.read_text(encoding="utf-8").splitlines() if (m := ROW.match(line))]
    return {(m[1], m[2]): (m[3], m[4], m[5]) for m in rows}


def test_the_page_tells_of_every_cache_and_of_no_other() -> None:
    assert _rows().keys() == _in_scala() | _in_python()


def test_what_outlives_a_moment_is_kept_by_which_file_it_is() -> None:
    """A path is a key only of what lives no longer than one open table, or is no content of a file."""
    lives = ("process", "handle")
    for place, (_, key, life) in _rows().items():
        if life.startswith(lives) and "path" in key:
            assert life.endswith("no content of a file"), place
    kept = {place for place, (_, key, _) in _rows().items() if key.startswith("file stamp")}
    assert {
        ("BlockCache.scala", "blocks"),
        ("KeptEnds.scala", "kept"),
        ("KeptFiles.scala", "kept"),
        ("KeptFooters.scala", "kept"),
        ("KeyedSlices.scala", "kept"),
    } <= kept


def test_block_caches_and_footers_take_no_path_for_a_key() -> None:
    """The type of the key is the file's stamp, so that nobody can hand over a name."""
    hfile = ROOT / "jvm/core/src/main/scala/hudiidx/hfile"
    assert "BlockKey(file: FileStamp, offset: Long)" in (hfile / "BlockCache.scala").read_text()
    read = ROOT / "jvm/spark/src/main/scala/hudiidx/spark/read"
    assert "RecentlyUsed[FileStamp, ParquetMetadata]" in (read / "KeptFooters.scala").read_text()
    assert "OfFile(file: FileStamp)" in (read / "KeyedSlices.scala").read_text()
