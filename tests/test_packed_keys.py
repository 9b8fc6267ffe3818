"""Texts of keys, and places of records as they come from the JVM."""

import struct
from datetime import date

import pytest

from hudiidx import LookupWork, RecordLocation, _keys


def test_an_answer_that_is_cut_or_of_other_keys_is_refused() -> None:
    located = bytes(_keys._HEADER.pack(0, 1, 0, 0)) + b"\0\0\0\0"
    packed = located + _keys._WORK.pack(11, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 5) + b"CODE!"
    answer = _keys.unpack([("k",)], packed)
    assert answer.missing == ("k",)
    assert answer.work == LookupWork(
        1, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, index_version=3, fallback="CODE!"
    )
    with pytest.raises(ValueError, match="asked were 2"):
        _keys.unpack([("k",), ("l",)], packed)
    for n in range(len(packed)):
        with pytest.raises((ValueError, struct.error)):
            _keys.unpack([("k",)], packed[:n])


def test_values_have_each_text_that_the_table_may_have() -> None:
    def texts(
        key: object, *named: bool, kinds: tuple[str, ...] = ("Whole",), unknown: str | None = None
    ) -> object:
        fields = ("id", "day")[: len(kinds)]
        return _keys.texts_of([key], lambda: _keys.KeyForm(fields, kinds, named, unknown))[0]  # type: ignore[list-item]

    assert texts("5", False, True) == ("5",)
    assert texts(5, False) == ("5",)
    assert texts(5, True, False) == ("id:5", "5")
    day = date(2024, 1, 2)
    assert texts((5, day), True, kinds=("Whole", "Date")) == ("id:5,day:2024-01-02", "id:5,day:19724")
    assert texts(day, False, kinds=("Text",)) == ("2024-01-02",)
    assert texts({"id": None, "day": ""}, True, kinds=("Text", "Text")) == ("id:__null__,day:__empty__",)
    for key, kind in (
        (5, "Exact"),
        (5, "Floating"),
        (5, "Instant"),
        (True, "Whole"),
        (day, "Instant"),
        (1, "Truth"),
    ):
        with pytest.raises(TypeError, match="pass the record key as text"):
            texts(key, False, kinds=(kind,))
    with pytest.raises(ValueError, match="made by X; pass the record key as text"):
        texts(5, unknown="made by X")
    with pytest.raises(ValueError, match="both forms"):
        texts(("id:5",), True, False, kinds=("Text",))


def test_a_location_is_a_value() -> None:
    assert RecordLocation("k", "p", "f", "1") == RecordLocation("k", "p", "f", "1")
    assert len({RecordLocation("k", "p", "f", "1"), RecordLocation("k", "p", "f", "1")}) == 1
