"""Diagrams as SVG files, with nothing but the standard library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Optional
from xml.sax.saxutils import escape

Points = Sequence[tuple[float, float]]

WIDTH, HEIGHT = 760, 560
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 46, 56
COLORS = ("#0b61a4", "#d1495b", "#2e8b57", "#b8860b", "#6a4c93", "#444444")


class Plot:
    """Lines and dots in a frame with axes."""

    def __init__(self, title: str, x_label: str, y_label: str, equal: bool = True) -> None:
        """``equal``: a unit has the same length on both axes, as on a map."""
        self._title, self._x_label, self._y_label, self._equal = title, x_label, y_label, equal
        self._series: list[tuple[str, Points, str, str]] = []
        self._texts: list[tuple[float, float, str]] = []

    def line(self, label: str, points: Points, color: Optional[str] = None) -> None:
        """A line through points; without a label it is not in the legend."""
        self._add("line", points, label, color)

    def dots(self, label: str, points: Points, color: Optional[str] = None) -> None:
        """Dots."""
        self._add("dots", points, label, color)

    def text(self, x: float, y: float, text: str) -> None:
        """A text beside a point."""
        self._texts.append((x, y, text))

    def _add(self, kind: str, points: Points, label: str, color: Optional[str]) -> None:
        labels = sum(1 for one in self._series if one[2])
        finite = [one for one in points if math.isfinite(one[0]) and math.isfinite(one[1])]
        self._series.append((kind, finite, label, color or COLORS[labels % len(COLORS)]))

    def write(self, file: Path) -> None:
        """Writes the file."""
        every = [one for _, points, _, _ in self._series for one in points]
        xs, ys = _range([x for x, _ in every]), _range([y for _, y in every])
        width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
        if self._equal:
            unit = min(width / (xs[1] - xs[0]), height / (ys[1] - ys[0]))
            xs, ys = _widened(xs, width / unit), _widened(ys, height / unit)

        def place(x: float, y: float) -> tuple[float, float]:
            return (
                LEFT + (x - xs[0]) / (xs[1] - xs[0]) * width,
                TOP + height - (y - ys[0]) / (ys[1] - ys[0]) * height,
            )

        out = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            'font-family="sans-serif" font-size="13">',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
            f'<text x="{LEFT}" y="28" font-size="17">{escape(self._title)}</text>',
        ]
        for x in _ticks(*xs):
            at, _ = place(x, ys[0])
            out.append(f'<path d="M{at:.1f} {TOP}V{TOP + height}" stroke="#ddd"/>')
            out.append(f'<text x="{at:.1f}" y="{TOP + height + 18}" text-anchor="middle">{x:g}</text>')
        for y in _ticks(*ys):
            _, at = place(xs[0], y)
            out.append(f'<path d="M{LEFT} {at:.1f}H{LEFT + width}" stroke="#ddd"/>')
            out.append(f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{y:g}</text>')
        out.append(f'<rect x="{LEFT}" y="{TOP}" width="{width}" height="{height}" fill="none" stroke="#888"/>')
        row = TOP + 14
        for kind, points, label, color in self._series:
            placed = [place(x, y) for x, y in points]
            if kind == "line":
                path = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
                out.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="1.6"/>')
            else:
                out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{color}"/>' for x, y in placed]
            if label:
                out.append(f'<rect x="{LEFT + width + 14}" y="{row - 9}" width="14" height="9" fill="{color}"/>')
                out.append(f'<text x="{LEFT + width + 34}" y="{row}">{escape(label)}</text>')
                row += 20
        for x, y, text in self._texts:
            right, down = place(x, y)
            out.append(f'<text x="{right + 7:.1f}" y="{down - 7:.1f}" fill="#333">{escape(text)}</text>')
        middle = TOP + height / 2
        out.append(
            f'<text x="{LEFT + width / 2}" y="{HEIGHT - 14}" text-anchor="middle">{escape(self._x_label)}</text>'
        )
        out.append(f'<text transform="rotate(-90 20 {middle})" x="20" y="{middle}" text-anchor="middle">')
        out += [f"{escape(self._y_label)}</text>", "</svg>"]
        file.write_text("\n".join(out) + "\n", encoding="utf-8")
        print(f"see {file}")


def _range(values: Sequence[float]) -> tuple[float, float]:
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    margin = 0.06 * (high - low) or 0.5
    return low - margin, high + margin


def _widened(span: tuple[float, float], size: float) -> tuple[float, float]:
    middle = (span[0] + span[1]) / 2
    return middle - size / 2, middle + size / 2


def _ticks(low: float, high: float) -> list[float]:
    raw = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(one * power for one in (1, 2, 5, 10) if one * power >= raw)
    return [round(one * step, 9) for one in range(math.ceil(low / step), math.floor(high / step) + 1)]
