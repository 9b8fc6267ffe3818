"""Calls of the command for people to copy into a shell: whatever names hold, they mean the same there."""

from __future__ import annotations

from hudiidx._text import shown

_BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-")


def word(text: str) -> str | None:
    """One argument, as ShellCommand.scala has it.

    Control characters stand as ``$'...'``, which bash, zsh and ksh read. None for what no argument can be, or
    what would be shown otherwise than it is.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return None
    if text and text[0] != "=" and _BARE.issuperset(text):
        quoted = text
    elif shown(text) == text:
        quoted = "'" + text.replace("'", "'\\''") + "'"
    else:
        quoted = "$'" + "".join(map(_escaped, text)) + "'"
    return quoted if "\0" not in text and shown(quoted) == quoted else None


def _escaped(c: str) -> str:
    if c in "'\\":
        return "\\" + c
    return c if shown(c) == c else "".join(f"\\{b:03o}" for b in c.encode())


def command(name: str, *words: str, index_path: str | None = None) -> str:
    """``hudiidx name words...`` for a sentence, or why no shell takes it."""
    found = line(name, *words, index_path=index_path)
    if found is None:
        bad = next(w for w in [*words, index_path or ""] if word(w) is None)
        return f"`hudiidx {name}` (no command line can hold '{shown(bad)}': call hudiidx from Python)"
    return f"`{found}`"


def line(name: str, *words: str, index_path: str | None = None) -> str | None:
    """``hudiidx name words...``; None where no shell takes it."""
    quoted = [word(w) for w in words]
    path = word(index_path) if index_path else ""
    if path is None or None in quoted:
        return None
    if any(w.startswith("-") for w in words):  # would be taken for an option
        given = [f"--index-path={path}"] if path else []
        return " ".join(["hudiidx", name, *given, "--", *map(str, quoted)])
    joint = "=" if path.startswith("-") else " "
    return " ".join(["hudiidx", name, *map(str, quoted), *([f"--index-path{joint}{path}"] if path else [])])
