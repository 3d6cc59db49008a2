"""The coverage report as one HTML page that needs nothing from anywhere else."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template, select_autoescape

_HIDDEN = ("item", "covered", "first")


@cache
def _template() -> Template:
    loader = PackageLoader("simulator.engine.insight")
    environment = Environment(
        loader=loader, autoescape=select_autoescape(), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("coverage.html")


def render_page(report: Mapping[str, Any]) -> str:
    """The page of a report as `coverage_of` makes it."""
    return _template().render(report=report, hidden=_HIDDEN)


def page_source() -> str:
    """The page without a report: its style, among others, is that of every report."""
    return (files("simulator.engine.insight") / "templates" / "coverage.html").read_text("utf-8")
