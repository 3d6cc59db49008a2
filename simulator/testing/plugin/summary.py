"""The summary of a run over all worlds of all workers: coverage, advice, kept worlds.

Each process records its worlds before they are deleted (`Notes`). The record goes with a test's report, so nothing is
lost if a worker is killed later. The process that reports the run adds up the records (`Summary`).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NotRequired, TypeAlias

import pytest
from typing_extensions import TypedDict

from simulator.engine.text.json import JsonObject
from simulator.testing.errors import SimulatorError
from simulator.testing.plugin.options import REPORT, REPORTER, USED, chosen, wanted_coverage
from simulator.testing.plugin.report import directory

if TYPE_CHECKING:
    from simulator.engine.insight.shapes import Finding
    from simulator.testing.worlds import World

Covered: TypeAlias = Mapping[str, list[str]]
"""The exercised items for each dimension."""

_SEVERITIES = ("info", "warning", "error")
_NAMED = 8
"""The maximum number of exercised items, and of unexercised items, to list."""


class Dimension(TypedDict):
    """One dimension of coverage: the title and all items."""

    title: str
    items: list[str]
    groups: list[str]
    """The group of each item, which is its kind of resource or the beginning of its path, or "" if it has none."""


class Report(TypedDict):
    """The data that one process has collected since its previous report."""

    kept: NotRequired[list[tuple[str, str]]]
    """Tests that passed, and how to inspect their worlds, which were kept."""
    advice: NotRequired[list[tuple[str, Finding]]]
    """Tests, and findings about their worlds."""
    covered: NotRequired[Covered]
    used: NotRequired[Covered]
    catalogue: NotRequired[Mapping[str, Dimension]]
    against: NotRequired[dict[str, dict[str, list[JsonObject]]]]
    """The exchanges of tests that run on the simulator and on the service, by test and side."""


class Notes:
    """Collects the data for the `Report` of one process."""

    def __init__(self, config: pytest.Config) -> None:
        least = chosen(config, "simulator_fail_on_advice")
        self._from = _SEVERITIES[_SEVERITIES.index(least) :] if least else ()
        self._wants_coverage = bool(wanted_coverage(config))
        self._sent_catalogue = False
        self._report: Report = {}

    def keep(self, test: str, look: str) -> None:
        """Record a world that is kept although its test passed."""
        self._report.setdefault("kept", []).append((test, look))

    def take(self, test: str, world: World) -> None:
        """Record a world before it is deleted or reset. Nothing is recorded if the world is unreachable."""
        with contextlib.suppress(SimulatorError):
            if self._from:
                found: list[Finding] = world.advice()
                advice = self._report.setdefault("advice", [])
                advice += ((test, row) for row in found if row["severity"] in self._from)
            if self._wants_coverage:
                self._cover(world.control("GET", "/coverage")["dimensions"])

    def _cover(self, dimensions: Mapping[str, Mapping[str, object]]) -> None:
        covered, used = dict(self._report.get("covered", {})), dict(self._report.get("used", {}))
        catalogue: dict[str, Dimension] = {}
        operations = {str(row["item"]): _group_of(row, {}) for row in _rows(dimensions["operations"])}
        for name, part in dimensions.items():
            items = _rows(part)
            seen = {*covered.get(name, ()), *(_name(item) for item in items if item["covered"])}
            covered[name] = sorted(seen)
            counted = [item for item in items if any(type(value) is int and value > 0 for value in item.values())]
            used[name] = sorted({*used.get(name, ()), *(_group_of(item, operations) for item in counted)})
            names, of = [_name(item) for item in items], [_group_of(item, operations) for item in items]
            catalogue[name] = {"title": str(part["title"]), "items": names, "groups": of}
        self._report["covered"], self._report["used"] = covered, used
        if not self._sent_catalogue:
            self._report["catalogue"] = catalogue
            self._sent_catalogue = True

    def take_exchanges(self, test: str, side: str, exchanges: list[JsonObject]) -> None:
        """Record the requests that a test sent to the simulator or to the target, and their responses."""
        self._report.setdefault("against", {}).setdefault(test, {})[side] = exchanges

    def collect(self) -> Report:
        """Return the report with the data collected so far, and start an empty one."""
        report, self._report = self._report, {}
        return report


def attach(bearer: pytest.TestReport | pytest.Session, report: Report) -> None:
    """Send the collected data to the reporting process, with a test's report or at the end of the session."""
    if not report:
        return
    if isinstance(bearer, pytest.TestReport):
        setattr(bearer, REPORT, report)
    elif hasattr(bearer.config, "workeroutput"):
        bearer.config.workeroutput[REPORT] = report
    elif (reporter := bearer.config.pluginmanager.get_plugin(REPORTER)) is not None:
        reporter.add(report)


class Summary:
    """The coverage, advice and kept worlds that the processes of a test run have reported."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._fails_from = chosen(config, "simulator_fail_on_advice")
        """The minimum severity of advice that fails the run, or ""."""
        self._wanted_coverage = wanted_coverage(config)
        self._kept: list[tuple[str, str]] = []
        self._advice: list[tuple[str, Finding]] = []
        self._covered: dict[str, set[str]] = {}
        self._used: dict[str, set[str]] = {}
        self._catalogue: Mapping[str, Dimension] = {}
        self._against: dict[str, dict[str, list[JsonObject]]] = {}
        self._differences: dict[str, list[str]] = {}
        """The differences between the simulator and the target, for each test that ran on both."""

    def add(self, report: Report) -> list[str]:
        """Add a record. Return the differences of the test that has now run on both sides."""
        self._kept += report.get("kept", ())
        self._advice += report.get("advice", ())
        self._catalogue = report.get("catalogue", self._catalogue)
        for name, items in report.get("covered", {}).items():
            self._covered.setdefault(name, set()).update(items)
        for name, groups in report.get("used", {}).items():
            self._used.setdefault(name, set()).update(groups)
        found: list[str] = []
        for test, exchanges in report.get("against", {}).items():
            sides = self._against.setdefault(test, {})
            sides.update(exchanges)
            if len(sides) > 1:
                self._differences[test] = [*import_module("simulator.testing.against").differences(sides)]
                found += self._differences[test]
        return found

    @property
    def fails(self) -> bool:
        """Return True if advice fails the run, or if the simulator and the target differ."""
        return bool(self._advice) or any(self._differences.values())

    def write(self, terminal: pytest.TerminalReporter) -> None:
        def section(title: str, lines: Iterable[str], *, red: bool = False) -> None:
            terminal.section(f"rampsim: {title}", red=red)
            for line in lines:
                terminal.line(line)

        if self._kept:
            section("kept worlds", (f"{test}: {look}" for test, look in self._kept))
        if self._differences:
            section("simulator and target", self._difference_lines(), red=any(self._differences.values()))
        if self._wanted_coverage:
            of = ", of the resources that they use" if self._wanted_coverage == USED else ""
            section(f"API coverage of the tests{of}", self._coverage())
        if self._fails_from:
            section(f"advice of severity {self._fails_from} and above", self._advice_lines(), red=self.fails)

    def _difference_lines(self) -> Iterator[str]:
        for test, lines in self._differences.items():
            yield f"{test}: {len(lines) or 'no'} difference{'' if len(lines) == 1 else 's'}"
            yield from (f"  {line}" for line in lines)

    def _coverage(self) -> Iterator[str]:
        if not self._catalogue:
            yield "None: no test had a simulator world."
            return
        width = max(len(part["title"]) for part in self._catalogue.values())
        for name, part in self._catalogue.items():
            yes, no = self._split(name, part)
            yield f"{part['title']:{width}}  {_share(len(yes), len(yes) + len(no))}"
            for word, items in (("yes", yes), ("no", no)):
                if items:
                    yield f"  {word + ':':4} {_few(items)}"
        path = directory(self._config) / "coverage.txt"
        try:
            path.write_text("".join(f"{line}\n" for line in self._whole_coverage()), "utf-8")
        except OSError as error:
            yield f"The whole list cannot be written: {error}"
        else:
            yield f"The whole list: {os.path.relpath(path, self._config.invocation_params.dir)}"

    def _whole_coverage(self) -> Iterator[str]:
        for name, part in self._catalogue.items():
            yes, no = self._split(name, part)
            yield f"{part['title']}: {_share(len(yes), len(yes) + len(no)).strip()}"
            yield from (f"  yes  {item}" for item in yes)
            yield from (f"  no   {item}" for item in no)

    def _split(self, name: str, part: Dimension) -> tuple[list[str], list[str]]:
        covered, items = self._covered.get(name, set()), part["items"]
        if self._wanted_coverage == USED:
            # Errors and lists belong to operations. Practices belong to no group and always count.
            used = self._used.get("operations" if name in ("errors", "lists") else name, set())
            used = {""} if name == "practices" else used
            items = [item for item, group in zip(items, part["groups"], strict=True) if group in used]
        return [item for item in items if item in covered], [item for item in items if item not in covered]

    def _advice_lines(self) -> Iterator[str]:
        if not self._advice:
            yield "None."
        groups: dict[tuple[str, ...], list[tuple[str, Finding]]] = {}
        for row in sorted(self._advice, key=lambda row: -_SEVERITIES.index(row[1]["severity"])):
            said = row[1]
            words = (said["severity"], said["kind"], said["message"], said.get("why", ""), said["what_to_do"])
            groups.setdefault(words, []).append(row)
        for (severity, kind, message, why, what_to_do), rows in groups.items():
            count = sum(finding["count"] for _, finding in rows)
            yield f"{severity}  {kind} ({f'{count} times' if count > 1 else 'once'})"
            yield f"  {message}"
            if why:
                yield f"  Why it matters: {why}"
            yield f"  What to do: {what_to_do}"
            yield f"  In: {_few(list(dict.fromkeys(test for test, _ in rows)), of=3)}"
        if self._advice:
            yield f"This advice fails the run (--simulator-fail-on-advice={self._fails_from})."


def _name(item: Mapping[str, object]) -> str:
    """Return the name of a coverage item, such as an error. `* ` is shown as "any operation"."""
    return str(item["item"]).replace("* ", "any operation ", 1)


def _rows(part: Mapping[str, object]) -> list[Mapping[str, object]]:
    rows: list[Mapping[str, object]] = part["items"]  # type: ignore[assignment]  # a list, as coverage shows it
    return rows


def _group_of(item: Mapping[str, object], operations: Mapping[str, str]) -> str:
    """Return the group of an item: a kind of resource, the beginning of a path, or the first part of an event type."""
    if "kind" in item:
        return str(item["kind"])
    if "operation" in item:
        return operations.get(str(item["operation"]), "")
    if "path" in item:
        parts = [*str(item["path"]).strip("/").split("/"), "{"]
        return parts[0] if parts[1].startswith("{") else "/".join(parts[:2])
    return str(item["item"]).rpartition(".")[0]


def _share(part: int, whole: int) -> str:
    """Format a fraction. `percent` is rounded down, so that 100 means complete coverage."""
    return f"{part:4} of {whole:4}  {part * 1000 // whole / 10 if whole else 100.0:5} %"


def _few(items: Iterable[str], of: int = _NAMED) -> str:
    items = list(items)
    more = f" and {len(items) - of} more" if len(items) > of else ""
    return ", ".join(items[:of]) + more
