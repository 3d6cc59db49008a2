"""The coverage report as one self-contained HTML page."""

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
    """Return the HTML page for a report from `coverage_of`."""
    return _template().render(report=report, hidden=_HIDDEN)


def page_source() -> str:
    """Return the page's template, which contains the style that all reports share."""
    return (files("simulator.engine.insight") / "templates" / "coverage.html").read_text("utf-8")
