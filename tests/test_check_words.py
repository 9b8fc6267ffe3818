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
| with | `Beside` |
"""
WORDS = Words.of(PAGE)


def found(tmp_path: Path, name: str, text: str) -> list[str]:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return [use.removeprefix(f"{tmp_path}/") for use in check_words.uses(file, WORDS)]


def test_the_glossary_is_the_list() -> None:
    assert Words(("was faster", "were faster"), ("Beside",)) == WORDS
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


def test_texts_of_scala_are_looked_at_and_comments_are_not(tmp_path: Path) -> None:
    text = """/** was faster */
val a = s"${f("x", 'y')} was " + // was faster
  "faster"
val b = s"one was ${n} faster"; val c = Seq("was", "faster")
val d = \"\"\"a
  were faster \"quoted\" \"\"\"
val isBesideAll = besides(Besides, "Beside") // Beside
"""
    uses = found(tmp_path, "A.scala", text)
    assert uses == ["A.scala:2: was faster", "A.scala:6: were faster", "A.scala:7: isBesideAll"]


def test_texts_of_python_are_looked_at_and_comments_are_not(tmp_path: Path) -> None:
    text = '''"""It was faster."""  # was faster
a = f"{1} was " "faster", "was" + b, "faster"
'''
    assert found(tmp_path, "a.py", text) == ["a.py:1: was faster", "a.py:2: was faster"]


def test_nothing_says_what_is_not_to_be_said() -> None:
    assert check_words.main([]) == 0
