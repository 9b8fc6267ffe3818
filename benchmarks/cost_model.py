"""Fits RFC-8's cost model to what CostModel measured, and draws both: cost_model.py FIGURES.jsonl OUT.svg.

RFC-8 expects K + M / N * 2 ms with N groups looked up at once. Here one thread looks up M keys; they touch t = N (1 - (1 - 1/N)^M)
groups on average, and cost K + g t + c M: K once, g for each group touched, c for each key; over N tasks c M becomes c M / N.
The three are fitted by least squares of relative errors.
"""

from __future__ import annotations

import json
import math
import pathlib
import sys

Point = tuple[int, int, float]
WIDTH, HEIGHT, LEFT, BOTTOM = 760, 460, 70, 56
COLORS = ["#1b6ca8", "#c8553d", "#3a7d44", "#8e6c8a", "#b8860b"]


def touched(keys: int, groups: int) -> float:
    return groups * (1 - (1 - 1 / groups) ** keys)


Fit = tuple[float, float, float]


def model(fitted: Fit, keys: int, groups: int) -> float:
    """Milliseconds."""
    return fitted[0] + fitted[1] * touched(keys, groups) + fitted[2] * keys


def fit(points: list[Point]) -> Fit:
    """K, g and c in milliseconds, none below zero: each round leaves out the terms that came out negative."""
    terms = [0, 1, 2]
    while True:
        rows = [[(1.0, touched(m, n), float(m))[t] / ms for t in terms] for m, n, ms in points]
        size = len(terms)
        normal = [[sum(r[i] * r[j] for r in rows) for j in range(size)] + [sum(r[i] for r in rows)] for i in range(size)]
        for i in range(size):
            for j in range(size):
                if j != i:
                    factor = normal[j][i] / normal[i][i]
                    normal[j] = [a - factor * b for a, b in zip(normal[j], normal[i], strict=True)]
        found = {t: normal[i][size] / normal[i][i] for i, t in enumerate(terms)}
        if all(v >= 0 for v in found.values()):
            return found.get(0, 0.0), found.get(1, 0.0), found.get(2, 0.0)
        terms = [t for t in terms if found[t] >= 0]


def read(path: pathlib.Path) -> list[Point]:
    points = []
    for line in path.read_text().splitlines():
        f = json.loads(line)
        if f["state"] == "cost model":
            points.append((int(f["what"].split()[0]), int(f["where"].split()[0]), float(f["value"])))
    return points


def describe(fitted: Fit) -> str:
    return f"K = {fitted[0] * 1000:.1f} µs, g = {fitted[1] * 1000:.1f} µs a group, c = {fitted[2] * 1000:.2f} µs a key"


def svg(points: list[Point], fitted: Fit) -> str:
    """Log-log plot: dots measured, lines the model."""
    text = describe(fitted)
    most_keys = max(p[0] for p in points)
    low = 10 ** math.floor(math.log10(min(p[2] for p in points)))
    high = 10 ** math.ceil(math.log10(max(p[2] for p in points)))

    def x(keys: float) -> float:
        return LEFT + (WIDTH - LEFT - 150) * math.log10(keys) / math.log10(most_keys)

    def y(millis: float) -> float:
        return (HEIGHT - BOTTOM) - (HEIGHT - BOTTOM - 40) * math.log10(millis / low) / math.log10(high / low)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13" role="img">',
        f"<title>Lookup time of M keys in N hash groups, measured and fitted: {text}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="22" font-size="15">Lookup, warm, one thread: {text}</text>',
    ]
    for power in range(round(math.log10(low)), round(math.log10(high)) + 1):
        at = y(10.0**power)
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - 150}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{10.0**power:g} ms</text>')
    for power in range(round(math.log10(most_keys)) + 1):
        at = x(10.0**power)
        out.append(f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{10**power:,}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - 150) / 2}" y="{HEIGHT - 14}" text-anchor="middle">keys of one lookup (M)</text>')
    for i, groups in enumerate(sorted({p[1] for p in points})):
        color = COLORS[i % len(COLORS)]
        mine = sorted(p for p in points if p[1] == groups)
        line = " ".join(f"{x(k):.1f},{y(model(fitted, k, groups)):.1f}" for k, _, _ in mine)
        out.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="1.5"/>')
        out += [f'<circle cx="{x(k):.1f}" cy="{y(ms):.1f}" r="3.5" fill="{color}"/>' for k, _, ms in mine]
        out.append(f'<text x="{WIDTH - 138}" y="{60 + 20 * i}" fill="{color}">N = {groups} groups</text>')
    out.append(f'<text x="{WIDTH - 138}" y="{HEIGHT - 76}" fill="#555">dots: measured</text>')
    out.append(f'<text x="{WIDTH - 138}" y="{HEIGHT - 58}" fill="#555">lines: fitted</text></svg>')
    return "\n".join(out) + "\n"


def main() -> None:
    figures, target = map(pathlib.Path, sys.argv[1:3])
    points = read(figures)
    fitted = fit(points)
    target.write_text(svg(points, fitted))
    errors = sorted(abs(model(fitted, m, n) - t) / t for m, n, t in points)
    print(f"{describe(fitted)}; relative error {errors[len(errors) // 2]:.0%} in the middle, {errors[-1]:.0%} at most")


if __name__ == "__main__":
    main()
