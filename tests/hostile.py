"""Names as somebody gives them who means harm, and what a text must not have that tells of them."""

from typing import Any

# The table of `TextsSuite`.
HIDDEN = {
    *range(0x20),
    *range(0x7F, 0xA0),
    0x61C,
    0x200E,
    0x200F,
    *range(0x2028, 0x202F),
    *range(0x2066, 0x206A),
    0xFEFF,
    *range(0xD800, 0xE000),
}
# Escape codes, a line of a log, a bell, a switch of direction, Rich's markup, links and emojis, HTML.
HOSTILE = "x\x1b[31m[red]y[/x]\r\n26/11/26 WARN forged\x07\u202e\x9b1m[link=file:///etc]z[/link]:bomb:<b>"
TOLD = r"x\u001b[31m[red]y[/x]\r\n26/11/26 WARN forged\u0007\u202e\u009b1m[link=file:///etc]z[/link]:bomb:<b>"
NAME = HOSTILE.replace("/", "|").replace("\r", "")
PARTITION = "sf\x1b[31m[red]\n26|11|26 WARN\u202e[|x]"


def hidden(text: str) -> list[str]:
    """Numbers of the characters that a text must not have."""
    return [f"{ord(c):x}" for c in text if ord(c) in HIDDEN and c != "\n"]


def assert_plain(text: str) -> None:
    assert not hidden(text), text


def all_hostile(document: Any) -> Any:
    """The same with every text a hostile one."""
    if isinstance(document, str):
        return HOSTILE
    if isinstance(document, dict):
        return {k: all_hostile(v) for k, v in document.items()}
    return [all_hostile(d) for d in document] if isinstance(document, list) else document
