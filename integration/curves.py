"""Measures over time, as numbers and as a picture."""

import time
from html import escape
from pathlib import Path

WIDTH, HEIGHT, LEFT, GAP = 720, 90, 130, 24


class Curves:
    """``values``: seconds since the first sample, then a list for each name."""

    def __init__(self, names: list[str]) -> None:
        self.names, self._start = names, time.monotonic()
        self.values: dict[str, list[float]] = {"seconds": [], **{name: [] for name in names}}

    def add(self, *measures: float) -> None:
        """A sample, in the order of the names."""
        self.values["seconds"].append(round(time.monotonic() - self._start, 1))
        for name, value in zip(self.names, measures, strict=True):
            self.values[name].append(round(value, 1))

    def last(self) -> dict[str, float]:
        return {name: self.values[name][-1] for name in self.names}

    def growth(self, name: str) -> float:
        """How much higher the mean of the last quarter is than that of the one before it."""
        values = self.values[name]
        quarter = len(values) // 4
        return sum(values[-quarter:]) / quarter - sum(values[-2 * quarter : -quarter]) / quarter

    def mean(self, name: str) -> float:
        return sum(self.values[name]) / len(self.values[name])

    def save(self, file: Path) -> None:
        """One curve below the other, each from 0 to its highest value."""
        seconds = self.values["seconds"]
        across = (WIDTH - LEFT - 10) / max(seconds[-1], 1)
        rows = []
        for n, name in enumerate(self.names):
            top, values = n * (HEIGHT + GAP) + GAP, self.values[name]
            most = max(*values, 1.0)
            points = " ".join(
                f"{LEFT + s * across:.1f},{top + HEIGHT * (1 - v / most):.1f}"
                for s, v in zip(seconds, values, strict=True)
            )
            base = top + HEIGHT
            rows += [
                f'<text x="4" y="{top + 14}">{escape(name)}</text>',
                f'<text x="4" y="{top + 32}">0 to {most:g}</text>',
                f'<path d="M{LEFT} {base}H{WIDTH - 10}" stroke="#999"/>',
                f'<polyline points="{points}" fill="none" stroke="#0b6bcb" stroke-width="1.5"/>',
            ]
        height = len(self.names) * (HEIGHT + GAP) + 2 * GAP
        rows.append(f'<text x="{LEFT}" y="{height - 10}">{seconds[-1] / 60:.0f} minutes</text>')
        head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" role="img"'
        style = 'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>'
        title = "<title>Memory, file handles and files over time</title>"
        file.write_text("\n".join([f"{head} {style}", title, *rows, "</svg>", ""]))
