"""The page's table of mutation tests (`make mutation`): what counts as noticed, and how rows are kept."""

import mutation
import reliability


def change(status: str, line: int = 1, file: str = "A.scala") -> dict[str, str]:
    known = {"mutatedMethod": "read", "description": "negated conditional"}
    return {"status": status, "lineNumber": str(line), "sourceFile": file, **known}


def test_a_row_tells_what_tests_noticed_of_what_they_run() -> None:
    states = ["KILLED"] * 5 + ["TIMED_OUT", "MEMORY_ERROR"] + ["SURVIVED"] + ["NO_COVERAGE"] * 4
    cells = mutation.row("bytes", [change(s) for s in states]).strip("| ").split(" | ")
    assert cells[:5] == ["bytes", "12", "7 (88% of what runs)", "1", "4"]


def test_survivors_are_listed_by_file_and_line() -> None:
    changes = [change("SURVIVED", 20), change("KILLED", 3), change("SURVIVED", 9), change("NO_COVERAGE", 1)]
    assert mutation.survivors(changes) == (
        "A.scala:9 read: negated conditional\nA.scala:20 read: negated conditional\n"
    )


def test_a_package_replaces_its_own_row_and_one_that_is_gone_loses_it() -> None:
    page = reliability.PAGE.read_text()
    first = mutation.with_row(page, "bytes", "| bytes | 1 | … |")
    gone = first.replace("| bytes | 1 |", "| no.more | 7 |\n| bytes | 1 |")
    both = mutation.with_row(
        mutation.with_row(gone, "store", "| store | 2 | … |"), "bytes", "| bytes | 3 | … |"
    )
    assert "| store | 2 |" in both and "| bytes | 3 |" in both
    assert "| bytes | 1 |" not in both and "no.more" not in both
    assert both.split(mutation.END)[1] == page.split(mutation.END)[1]


def test_packages_and_suites_are_those_of_the_sources() -> None:
    assert {"bytes", "column.segment", "table", mutation.BASE} <= set(mutation.packages())
    names = ("hudiidx.TableFormat$", "hudiidx.bytes.Crc", "hudiidx.table.listing.SizeCheck")
    assert [mutation.package_of(name) for name in names] == [mutation.BASE, "bytes", "table.listing"]
    assert all(mutation.test_source(name).exists() for name in mutation.NO_TESTS_OF_CODE)
