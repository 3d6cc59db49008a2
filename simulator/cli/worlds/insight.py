"""`rampsim coverage`: how much of the contract the traffic of an integration has exercised."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from simulator.cli.ending import EXIT_REFUSED
from simulator.cli.output import say, show
from simulator.cli.remote import remote
from simulator.engine.clients import control as clients


@click.command()
@click.option("--all-worlds", is_flag=True, help="Of all worlds this server has had, ended ones included.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole report as JSON.")
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write the report as one HTML page.")
@click.option("--missing", is_flag=True, help="List what is not covered, too.")
@click.option(
    "--fail-under", type=click.FloatRange(0, 100), metavar="PERCENT", help="Exit with 1 when the total is lower."
)
@remote
def coverage(
    client: clients.ControlClient,
    all_worlds: bool,
    as_json: bool,
    html: Path | None,
    missing: bool,
    fail_under: float | None,
) -> None:
    """Show how much of the contract the traffic has exercised.

    \b
    rampsim coverage --missing
    rampsim coverage --all-worlds --html coverage.html --fail-under 60
    """
    report = client.get("/coverage", world="*" if all_worlds else None)
    if html is not None:
        from simulator.engine.insight.page import render_page

        try:
            html.write_text(render_page(report), "utf-8")
        except OSError as error:
            raise click.FileError(str(html), error.strerror) from None
    if as_json:
        show(report)
    else:
        _print(report, missing)
    if fail_under is not None and not report["percent"] >= fail_under:
        say(f"rampsim: coverage {report['percent']} % is below {fail_under:g} %", err=True)
        sys.exit(EXIT_REFUSED)


def _print(report: Mapping[str, Any], missing: bool) -> None:
    parts = report["dimensions"].values()
    width = max(len(part["title"]) for part in parts)
    for part in parts:
        say(_line(part["title"], part, width))
        for row in part["items"]:
            if missing and not row["covered"]:
                say(f"  - {row['item']}")
    say(_line("Total", report, width))


def _line(title: str, part: Mapping[str, Any], width: int) -> str:
    return f"{title:{width}}  {part['covered']:5} of {part['total']:5}  {part['percent']:5} %"
