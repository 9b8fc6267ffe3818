"""Words that the glossary says not to use are found where readers meet them, by line, and nowhere else."""

from pathlib import Path

import check_words
import pytest
from check_words import Words

PAGE = """# Glossary
was faster, in a page that has the table
## Say and do not say

| Say | Do not say |
|---|---|
| another writer committed first | was faster, were faster |
| with | `Beside`, `isMuch`, `OptionKind.Whole` |
| is not a | is no … |
"""
WORDS = Words.of(PAGE)


def found(tmp_path: Path, name: str, text: str) -> list[str]:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return [use.removeprefix(f"{tmp_path}/") for use in check_words.uses(file, WORDS)]


def test_the_glossary_is_the_list() -> None:
    assert Words(("was faster", "were faster"), ("Beside", "isMuch", "OptionKind.Whole"), ("is no",)) == WORDS
    assert len(Words.of(check_words.GLOSSARY.read_text(encoding="utf-8")).phrases) > 20
    with pytest.raises(ValueError, match="no heading"):
        Words.of("# Glossary\n")
    with pytest.raises(ValueError, match="no phrases"):
        Words.of("## Say and do not say\n\n| Say | Do not say |\n|---|---|\n")


def test_prose_of_pages_is_looked_at_and_code_and_citations_are_not(tmp_path: Path) -> None:
    text = """It WAS
faster.

```text
was faster
```
`was faster`, `ASuite` "it was faster", "were faster", and were faster
"""
    assert found(tmp_path, "page.md", text) == ["page.md:1: WAS faster", "page.md:7: were faster"]


def test_texts_comments_and_names_of_scala_are_looked_at(tmp_path: Path) -> None:
    text = """/** was
  * faster, `was faster` */
val a = s"${f("x", 'y')} was " + // it was
  // faster; isMuch, Beside
  "faster"
val b = s"one was ${n} faster"; val c = Seq("was", "faster")
val d = \"\"\"a
  were faster \"quoted\" \"\"\"
val isBesideAll = besides(Besides, "Beside", e.isMuch, OptionKind.Whole, Whole)
"""
    assert found(tmp_path, "A.scala", text) == [
        *(
            "A.scala:1: was faster",
            "A.scala:3: was faster",
            "A.scala:3: was faster",
            "A.scala:8: were faster",
        ),
        *("A.scala:9: OptionKind.Whole", "A.scala:9: isBesideAll", "A.scala:9: isMuch"),
    ]
    java = "// was faster\nint isMuch = 1; /* was\n * faster */"
    assert found(tmp_path, "A.java", java) == [
        "A.java:1: was faster",
        "A.java:2: isMuch",
        "A.java:2: was faster",
    ]


def test_texts_comments_and_names_of_python_are_looked_at(tmp_path: Path) -> None:
    text = '''"""It was faster."""  # it was
# faster, `was faster`
a = f"{1} was " "faster", "was" + b, "faster"
isMuch = isMuchMore = much
def test_one_was_faster(): was_faster()
'''
    assert found(tmp_path, "a.py", text) == [
        *("a.py:1: was faster", "a.py:1: was faster", "a.py:3: was faster"),
        *("a.py:4: isMuch", "a.py:4: isMuchMore", "a.py:5: was faster"),
    ]


def test_messages_of_the_product_do_not_say_what_something_is_no(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_words, "ROOT", tmp_path)
    text = 'val a = s"$x is " + "no table, there is no index, is no longer" // is no comment'
    scala = {folder: f"jvm/core/src/{folder}/A.scala" for folder in ("main", "test")}
    for file in (*scala.values(), "python/a.py", "scripts/a.py"):
        (tmp_path / file).parent.mkdir(parents=True)
    assert found(tmp_path, scala["main"], text) == [f"{scala['main']}:1: is no table"]
    assert found(tmp_path, scala["test"], text) == []
    assert found(tmp_path, "python/a.py", '"is no table"') == ["python/a.py:1: is no table"]
    assert found(tmp_path, "scripts/a.py", '"is no table"') == []


def test_names_of_tests_are_looked_at_unless_the_reliability_page_cites_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_words, "ROOT", tmp_path)
    monkeypatch.setattr(
        check_words, "_cited", lambda: '`ASuite` "it was faster"; `a.py` "test_it_was_faster"'
    )
    suite = "jvm/core/src/test/ASuite.scala"
    (tmp_path / suite).parent.mkdir(parents=True)
    text = """test("it was faster") {}
test("two were faster") {}
// it was faster
"""
    assert found(tmp_path, suite, text) == [f"{suite}:2: were faster", f"{suite}:3: was faster"]
    python = "def test_it_was_faster(): ...\ndef test_she_was_faster(): ...\n"
    assert found(tmp_path, "a.py", python) == ["a.py:2: was faster"]


@pytest.mark.parametrize(
    "place",
    [
        *(
            "README.md",
            "SECURITY.md",
            "CONTRIBUTING.md",
            "CHANGELOG.md",
            "docs/python.md",
            "benchmarks/README.md",
        ),
        *(
            "jvm/core/src/main/scala/hudiidx/Log.scala",
            "jvm/core/src/test/scala/hudiidx/ShellCommandSuite.scala",
        ),
        *("jvm/spark/src/main/java/hudiidx/spark/read/RowsReader.java", "python/hudiidx/index.py"),
        *("python/hudiidx/cli/app.py", "tests/conftest.py", "integration/soak.py", "scripts/run_tests.py"),
    ],
)
def test_pages_sources_and_tests_are_all_looked_at(place: str) -> None:
    assert check_words.ROOT / place in check_words.all_files()


def test_nothing_says_what_is_not_to_be_said() -> None:
    assert check_words.main([]) == 0
