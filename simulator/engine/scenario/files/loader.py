"""Reads scenario files and reports all problems in a file at once, each with its path, line and column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path as FilePath

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from simulator.engine.scenario.files.library import FileProblem, ScenarioFile, source_of
from simulator.engine.scenario.language import parts, schema
from simulator.engine.scenario.language.action_checks import names_of
from simulator.engine.scenario.language.bounds import FILE, UPLOAD, Bounds
from simulator.engine.scenario.language.checker import ScenarioChecker
from simulator.engine.scenario.language.document import Document, Path, dotted, read
from simulator.engine.scenario.language.schema import Scenario
from simulator.engine.scenario.run import drive
from simulator.engine.text.fields import in_words
from simulator.engine.text.json import dumps
from simulator.engine.vocabulary.vocabulary import Vocabulary


class ScenarioError(Exception):
    """Raised if a scenario file is invalid. `errors` are in file order. `warnings` do not make the file invalid."""

    def __init__(self, errors: list[FileProblem], source: str = "", warnings: tuple[FileProblem, ...] = ()) -> None:
        self.errors = errors
        self.warnings = warnings
        self.source = source
        lines = [describe_problem(source, error) for error in errors]
        super().__init__("\n".join([f"{len(errors)} {'problem' if len(errors) == 1 else 'problems'}", *lines]))


def describe_problem(file: str, problem: FileProblem) -> str:
    """Format a problem as one line, `FILE:LINE:COLUMN: path: message`."""
    part = f"{problem['path']}: " if problem["path"] else ""
    return f"{file}:{problem['line']}:{problem['column']}: {part}{problem['message']}"


class Loader:
    """Reads scenario files and checks them against a service's vocabulary, such as its actions and events."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def load(
        self, text: str | bytes, source: str = "uploaded", known: Iterable[str] = (), bounds: Bounds = UPLOAD
    ) -> ScenarioFile:
        """Read a scenario that may refer to the scenarios in `known`. Raise `ScenarioError` with all problems."""
        document = read(text if isinstance(text, str) else _decoded(text, source), bounds)
        loaded = None
        if isinstance(document.value, dict):
            loaded = self._check(document, known)
        elif not document.problems or document.value is not None:
            document.report((), "a scenario must be a mapping with the field `name`")
        whole = text if isinstance(text, str) else text.decode()
        return replace(_finish(document, loaded, source), text=whole)

    def load_inside(self, text: bytes, path: Path, value: object, known: Iterable[str] = ()) -> ScenarioFile:
        """Read a scenario `value` at a path in the larger document `text`, without line numbers. Raise `ScenarioError`
        with all problems and their positions in the larger document.
        """
        # The larger document is parsed with positions only if there is a problem, because that is slow.
        try:
            return replace(self.load(dumps(value), known=known), lines={}, text="")
        except ScenarioError as error:
            whole = read(text.decode())
            part = whole.part(path)
            self._check(part, known)
            line, column = whole.place(path)
            listed = [one.shown() for one in part.in_order()]
            # If the list is empty, the value by itself exceeds the size limits for uploads.
            listed = listed or [{**one, "line": line, "column": column} for one in error.errors]
            raise ScenarioError(listed, error.source) from None

    def load_file(self, path: FilePath, known: Iterable[str] = ()) -> ScenarioFile:
        """Read a scenario file. Raise `OSError` if the file cannot be read, or `ScenarioError` if it is invalid."""
        return self.load(path.read_bytes(), str(path), known, FILE)

    def load_shipped(self, path: FilePath, known: Iterable[str]) -> ScenarioFile:
        """Read a shipped file. Raise `ScenarioError` if it is invalid or not named like its scenario."""
        file = self.load(path.read_bytes(), source_of(path), known, FILE)
        if file.name != path.stem:
            message = f"it must be `{path.stem}`, as in the file name"
            problem: FileProblem = {"path": "name", "line": 1, "column": 1, "message": message}
            raise ScenarioError([problem], source_of(path))
        return file

    def _check(self, document: Document, known: Iterable[str]) -> Scenario | None:
        """Add all problems to the document. Return the scenario, or None if it does not match the models."""
        scenario = None
        try:
            scenario = schema.validated(document.value, self._vocabulary)
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                _report(document, detail, schema.model(self._vocabulary))
        name = document.value.get("name")
        scenarios = tuple(dict.fromkeys([*known, *([name] if isinstance(name, str) else [])]))
        ScenarioChecker(document, self._vocabulary, scenarios).check()
        return scenario


def _decoded(raw: bytes, source: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - raw.rfind(b"\n", 0, error.start)
        problem: FileProblem = {"path": "", "line": line, "column": column, "message": "the file is not UTF-8"}
        raise ScenarioError([problem], source) from None


def _finish(document: Document, scenario: Scenario | None, source: str) -> ScenarioFile:
    warned = sorted(document.warnings, key=lambda warning: (warning.line, warning.column))
    warnings = tuple(warning.shown() for warning in warned)
    if document.problems or scenario is None:
        raise ScenarioError([problem.shown() for problem in document.in_order()], source, warnings)
    lists = ("rules", "timeline", "faults")
    paths: list[Path] = [(name, index) for name in lists for index in range(len(getattr(scenario, name)))]
    for member, given in (document.value.get("world") or {}).items():
        entries = range(len(given)) if isinstance(given, list) else ()
        paths += [("world", member), *(("world", member, index) for index in entries)]
    lines = {dotted(path): document.place(path, key=True)[0] for path in paths}
    return ScenarioFile(document.value, source, lines, warnings)


def _report(document: Document, detail: ErrorDetails, whole: type[Scenario]) -> None:
    """Report one pydantic error at its position in the file, in words for readers who do not know pydantic."""
    path: Path = tuple(part for part in detail["loc"] if not (isinstance(part, str) and part.startswith("«")))
    kind = detail["type"]
    inside = _belongs_inside(path)
    if kind == "extra_forbidden" and inside:
        document.report_unknown(path, f"`{path[-1]}` belongs inside `{inside}`", "")
    elif kind == "extra_forbidden":
        document.report_unknown_name(path, _fields_at(detail["loc"], whole), "field")
    elif kind == "missing":
        document.report_missing(path[:-1], (str(path[-1]),), f"`{path[-1]}` is missing", path)
    elif kind == "string_pattern_mismatch":
        document.report(path, "a name can contain letters, digits and `.-_`, and must begin with a letter or digit")
    elif kind == "string_type" and isinstance(detail["input"], int | float) and not isinstance(detail["input"], bool):
        document.report(path, f"it must be a string; write it in quotes: '{detail['input']}'")
    else:
        document.report(path, in_words(detail))


def _belongs_inside(path: Path) -> str:
    """Return the name of the fault section that should contain a misplaced field, or "" if there is no such section."""
    if len(path) != 3 or path[0] != "faults":
        return ""
    parts = ("match", "respond", "webhook", "deliver")
    return next((part for part in parts if path[-1] in names_of(_MODEL_AT[part])), "")


_MODEL_AT: Mapping[str, type[BaseModel]] = {
    "rules": schema.Rule,
    "answer": schema.AnswerInstead,
    "faults": schema.Fault,
    "match": schema.FaultMatch,
    "respond": schema.FaultRespond,
    "webhook": schema.WebhookFaultMatch,
    "deliver": schema.Deliver,
    "«tests»": parts.Tests,
    "«call»": drive.DriveCall,
    "«named»": drive.DriveCall,
    "«advance»": drive.Advance,
    "«receiver»": drive.Receiver,
    "receiver": drive.ReceiverAnswers,
    "«event»": drive.ExpectEvent,
    "«resource»": drive.ExpectResource,
    "«answer»": drive.ExpectAnswer,
    "«delivery»": drive.ExpectDelivery,
    "«webhooks»": drive.ExpectWebhooks,
}


def _fields_at(loc: tuple[int | str, ...], whole: type[Scenario]) -> list[str]:
    """Return the valid field names for the mapping that contains the unknown field at `loc`."""
    if loc[:-1] == ("world",):
        return names_of(type(whole.model_fields["world"].default))
    for part in reversed(loc[:-1]):
        if isinstance(part, str) and part in _MODEL_AT:
            return names_of(_MODEL_AT[part])
    return names_of(whole)
