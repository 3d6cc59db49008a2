"""Draws one SVG picture for each row: points by size if there are sizes, otherwise bars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from statistics import median

from tests.campaigns.benchmarks.results import NOW, TWIN, Results, figure
from tests.campaigns.benchmarks.rows import Row

WIDTH, HEIGHT = 640, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 20, 56, 48
_COLOURS = {NOW: "#1a7f64", TWIN: "#8a8f98"}
_OTHER = "#c2571a"


def picture(results: Results, row: Row) -> str:
    """The SVG of a row that was measured."""
    subjects = results.subjects(row.name)
    curves = {subject: results.curve(row.name, subject) for subject in subjects}
    highest = max(value for curve in curves.values() for _, value in curve) or 1.0
    shown = _limit(row, curves.get(NOW, []), results)
    top = max(highest, shown or 0.0) * 1.15
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        _text(16, 22, f"{row.name}: {row.what}", size=15),
        _text(16, 40, f"{row.unit}; goal: {row.goal}", colour="#555"),
        *_scale(top),
        *(_points(curves, top, row.sizes) if row.sizes else _bars(results, row, subjects, top)),
    ]
    if shown is not None:
        y = _y(shown, top)
        parts.append(
            f'<line x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#b00" stroke-dasharray="5 4"/>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _limit(row: Row, curve: Sequence[tuple[int, float]], results: Results) -> float | None:
    """The position of the goal on the scale."""
    if row.against == "value":
        return row.bound
    if row.against == "growth":
        return row.bound * curve[0][1] if curve else None
    twins = results.values(row.name, TWIN)
    return row.bound * median(twins) if twins else None


def _y(value: float, top: float) -> float:
    return HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * value / top


def _scale(top: float) -> list[str]:
    parts = []
    for part in range(5):
        value = top * part / 4
        y = _y(value, top)
        parts.append(f'<line x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e4e4e4"/>')
        parts.append(_text(_LEFT - 6, y + 4, figure(value), anchor="end", colour="#555"))
    return parts


def _points(curves: dict[str, list[tuple[int, float]]], top: float, sizes: str) -> list[str]:
    """Lines over the sizes, which are spaced by their logarithm."""
    every = sorted({size for curve in curves.values() for size, _ in curve})
    low, high = math.log(max(every[0], 1)), math.log(max(every[-1], 1))
    room = WIDTH - _LEFT - _RIGHT - 40

    def x(size: int) -> float:
        return _LEFT + 20 + (room * (math.log(max(size, 1)) - low) / (high - low) if high > low else room / 2)

    parts = [
        _text(x(size), HEIGHT - _BOTTOM + 18, f"{size:,}", anchor="middle", colour="#555")
        for size, following in zip(every, [*every[1:], None], strict=True)
        if following is None or x(following) - x(size) > 60
    ]
    parts.append(_text(WIDTH - _RIGHT, HEIGHT - 12, sizes, anchor="end", colour="#555"))
    for number, (subject, curve) in enumerate(curves.items()):
        colour = _COLOURS.get(subject, _OTHER)
        places = [(x(size), _y(value, top)) for size, value in curve]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3.5" fill="{colour}"/>' for a, b in places]
        parts += [
            _text(a, b - 8, figure(value), anchor="middle", colour=colour)
            for (a, b), (_, value) in zip(places, curve, strict=True)
        ]
        parts.append(_text(_LEFT + 110 * number, HEIGHT - 12, subject, colour=colour))
    return parts


def _bars(results: Results, row: Row, subjects: Sequence[str], top: float) -> list[str]:
    """A bar for the median of each, and a dot for every round."""
    parts, room = [], (WIDTH - _LEFT - _RIGHT) / max(len(subjects), 1)
    for number, subject in enumerate(subjects):
        values, colour = results.values(row.name, subject), _COLOURS.get(subject, _OTHER)
        middle, y = _LEFT + room * (number + 0.5), _y(median(values), top)
        height = HEIGHT - _BOTTOM - y
        parts.append(
            f'<rect x="{middle - 40:.1f}" y="{y:.1f}" width="80" height="{height:.1f}" fill="{colour}" opacity="0.8"/>'
        )
        parts += [
            f'<circle cx="{middle + 50:.1f}" cy="{_y(value, top):.1f}" r="2.5" fill="{colour}"/>' for value in values
        ]
        parts.append(_text(middle, y - 8, figure(median(values)), anchor="middle", colour=colour))
        parts.append(_text(middle, HEIGHT - _BOTTOM + 18, subject, anchor="middle"))
    return parts


def _text(x: float, y: float, text: str, *, anchor: str = "start", colour: str = "#222", size: int = 12) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-size="{size}">{escape(text)}</text>'
    )
