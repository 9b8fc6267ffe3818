"""JUnit reports, as ScalaTest and pytest write them."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

# ScalaTest writes a message as it is: with the zero bytes of a key, say, of which a parser makes nothing.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read(report: Path) -> ElementTree.Element:
    """The root of a report. What XML cannot hold is U+FFFD; what is cut short is a suite with an error."""
    text = _NO_XML.sub("\ufffd", report.read_text("utf-8", errors="replace"))
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError as e:
        return ElementTree.Element("testsuite", name=f"{report.name}: {e}", errors="1")


def is_failed(case: ElementTree.Element) -> bool:
    """Whether a test of a report failed."""
    return case.find("failure") is not None or case.find("error") is not None
