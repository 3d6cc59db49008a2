"""`rampsim advice`: prints findings as text, JSON, GitHub annotations or JUnit, except findings in a baseline."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from simulator.cli.options import option
from simulator.cli.output import Exit, Row, fail, say, show, write_file
from simulator.cli.remote import remote
from simulator.engine.clients import control as clients
from simulator.engine.text.reports import Case, Failure, Suite, counted, github_annotation, junit

SEVERITIES = ("info", "warning", "error")
_WIDTH = 100
_LEVELS = {"info": "notice", "warning": "warning", "error": "error"}
"""The names that GitHub uses for the severities."""


@click.command()
@option("--all-worlds", is_flag=True, help="Include all worlds of this server, even deleted ones.")
@option("--severity", type=click.Choice(SEVERITIES), help="Show only findings of at least this severity.")
@option(
    "--format",
    "form",
    type=click.Choice(("text", "json", "github", "junit")),
    default="text",
    help="Output: text, JSON, annotations for a GitHub workflow, or a JUnit report.",
)
@option("--json", "as_json", is_flag=True, help="Same as --format json.")
@option("--fail-on", type=click.Choice(SEVERITIES), help="Exit with 1 for findings of at least this severity.")
@click.option("--fail", "fail_on_any", is_flag=True, hidden=True)  # an older spelling of --fail-on info
@option(
    "--baseline",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File of known findings, which are not shown or counted.",
)
@option("--write-baseline", is_flag=True, help="Write the current findings to the file of --baseline.")
@remote
def advice(
    client: clients.ControlClient, all_worlds: bool, severity: str | None, form: str, as_json: bool,
    fail_on: str | None, fail_on_any: bool, baseline: Path | None, write_baseline: bool,
) -> None:  # fmt: skip
    """Show problems in an integration, and how to fix them.

    Each finding contains the evidence, its effect in production, and a fix. The most severe findings come first.

    \b
    rampsim advice
    rampsim advice --all-worlds --fail-on warning
    rampsim advice --all-worlds --baseline advice.json --write-baseline
    rampsim advice --all-worlds --baseline advice.json --fail-on info --format github
    """
    if write_baseline and baseline is None:
        fail("--write-baseline needs a file; set it with --baseline")
    rows = client.get("/advice", world="*" if all_worlds else None)["data"]
    if baseline is not None and write_baseline:
        _write(baseline, rows)
        return
    known = set() if baseline is None else _known(baseline)
    rows.sort(key=_weight)
    found = [
        row for row in reversed(rows) if _weight(row) >= SEVERITIES.index(severity or "info") and row["id"] not in known
    ]
    if as_json or form == "json":
        show(found)
    elif form == "junit":
        say(_junit(found), nl=False)
    else:
        say("\n".join(_github(found) if form == "github" else _text(found, client.url, len(known))))
    least = fail_on or ("info" if fail_on_any else None)
    if least is not None and any(_weight(row) >= SEVERITIES.index(least) for row in found):
        sys.exit(Exit.REFUSED)


def _weight(row: Row) -> int:
    return SEVERITIES.index(row["severity"])


def _write(path: Path, rows: Sequence[Row]) -> None:
    by_id = {row["id"]: {name: row[name] for name in ("id", "kind", "subject")} for row in rows}
    write_file(path, json.dumps({"known": [by_id[one] for one in sorted(by_id)]}, indent=2) + "\n")
    say(f"Wrote {path}: {counted(len(by_id), 'known finding')}.")


def _known(path: Path) -> set[str]:
    """Return the finding ids in a baseline. They are the same in every run."""
    try:
        return {str(row["id"]) for row in json.loads(path.read_text("utf-8"))["known"]}
    except OSError as error:
        fail(f"cannot read --baseline {path}: {error.strerror or error}; write it with --write-baseline")
    except (ValueError, KeyError, TypeError):
        fail(f"--baseline {path} is not a list of known findings; write it again with --write-baseline")


def _text(found: Sequence[Row], origin: str, known: int) -> Iterable[str]:
    for row in found:
        yield f"{row['severity']:7}  {row['kind']}  ({row['count']}×)"
        yield from _wrapped(row["message"])
        if "world" in row:
            yield f"         in the world {row['world']}"
        if row.get("why"):
            yield from _wrapped(f"Why it hurts: {row['why']}")
        yield from _wrapped(f"→ {row['what_to_do']}  [{row['clause']}]")
        for one in row.get("rests_on", ()):
            date = f" on {one['observed_at']}" if one["observed_at"] else ""
            yield f"         based on {one['id']}, {one['standing']}{date}"
        for change in row.get("changes", ())[:1]:
            yield from _marked("-", change["before"])
            yield from _marked("+", change["after"])
        yield from (f"         rule     {origin}{link}" for link in row.get("clause_links", ()))
        yield from (f"         request  {origin}{link}" for link in row.get("request_links", ())[-3:])
        shown = (row["requests"] or row["evidence"])[-3:]
        if shown:
            yield f"         see {', '.join(shown)}"
        yield ""
    hidden = f" ({counted(known, 'known finding')} not shown)" if known else ""
    if not found:
        yield f"No findings{hidden}."
        return
    counts = [(name, sum(row["severity"] == name for row in found)) for name in reversed(SEVERITIES)]
    yield ", ".join(f"{count} {name}" for name, count in counts if count) + hidden


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=" " * 9, subsequent_indent=" " * 11)


def _marked(sign: str, code: str) -> Iterable[str]:
    return (f"           {sign} {line}" for line in code.splitlines())


def _github(found: Sequence[Row]) -> Iterable[str]:
    for row in found:
        world = f" In the world {row['world']}." if "world" in row else ""
        said = " ".join(filter(None, (row["message"] + world, row.get("why"), row["what_to_do"], f"[{row['clause']}]")))
        yield github_annotation(_LEVELS[row["severity"]], f"rampsim {row['kind']}", said)
    if not found:
        yield "No findings."


def _junit(found: Sequence[Row]) -> str:
    cases = []
    for row in found:
        said = [row["message"], row.get("why", ""), row["what_to_do"], row["clause"], *row["requests"][-3:]]
        failure = Failure(row["message"], "\n".join(filter(None, said)), row["severity"])
        cases.append(Case(f"advice.{row['kind']}", f"{row['subject']} ({row['id']})", failure))
    return junit(Suite("rampsim advice", cases or [Case("advice", "no findings")]))
