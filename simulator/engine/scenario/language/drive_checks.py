"""Checks the `drive` and `expect` sections of a scenario: paths, bodies, references to earlier steps, field names."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ValidationError

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.faults.models import OF_NEW_NAMES
from simulator.engine.rows.operation import Operation
from simulator.engine.scenario.language import field_sets
from simulator.engine.scenario.language.action_checks import ActionChecker, describe_wrong, names_of, placeholders
from simulator.engine.scenario.language.calls import below_base, operations_at, paths
from simulator.engine.scenario.language.document import Document, Path, shortened
from simulator.engine.scenario.language.where_checks import WhereChecker
from simulator.engine.scenario.play.filling import PLACEHOLDER
from simulator.engine.scenario.play.matching import dig
from simulator.engine.scenario.run.drive import METHODS, UNNAMED_STEPS, is_named
from simulator.engine.text.fields import Wrong, dotted, wrongs_of
from simulator.engine.vocabulary.vocabulary import Vocabulary

_DRIVE_FIELDS = ("action", "target", "environment")


class DriveChecker:
    """Checks the steps in a scenario's `drive` in order, then the expectations in `expect`."""

    def __init__(self, document: Document, vocabulary: Vocabulary, variables: set[str]) -> None:
        self._document = document
        self._vocabulary = vocabulary
        self._actions = ActionChecker(document, vocabulary)
        self._wheres = WhereChecker(document, vocabulary)
        self._variables = variables
        """The names that `${…}` may start with. Each named step adds its name."""
        self._calls: dict[str, Operation] = {}
        """The operation of each named call that is expected to succeed."""

    def check_step(self, path: Path, step: dict[str, object]) -> None:
        self._placeholders(path, step)
        if "receiver" in step or ("advance" in step and "action" not in step):
            return
        place, content = path, step
        if is_named(step):
            name, named = next(iter(step.items()))
            self._variables.add(name)
            if not isinstance(named, dict):
                return
            place, content = (*path, name), named
        if "action" in content:
            self._actions.check(place, content, _DRIVE_FIELDS)
            self._actions.check_target(place, content)
            return
        self._document.check_known((*place, "code"), content.get("code"), self._vocabulary.errors, "error code")
        if sum(method in content for method in METHODS) != 1:
            message = f"a call needs exactly one of {', '.join(METHODS)} (or: advance, action, receiver)"
            self._document.report_missing(place, (*METHODS, *UNNAMED_STEPS), message)
            return
        method = next(method for method in METHODS if method in content)
        self._path_of_call(place, content, method)
        row = self._operation(place, content, method)
        if row is not None and place != path:
            self._calls[str(place[-1])] = row

    def check_expectation(self, path: Path, expectation: dict[str, object]) -> None:
        for field in ("event", "delivery"):
            self._document.check_known((*path, field), expectation.get(field), self._vocabulary.events, "event")
        answer = expectation.get("answer")
        if isinstance(answer, str) and answer not in self._variables:
            self._document.report((*path, "answer"), f"no step under `drive` has the name `{answer}`")
        self._wheres.check_tests((*path, "where"), expectation.get("where"))
        self._fields_of_expectation((*path, "where"), expectation)
        self._placeholders(path, expectation)

    def _placeholders(self, path: Path, value: object) -> None:
        """Check that every placeholder `${name.…}` starts with the name of an earlier step."""
        for place, used in placeholders(value, path):
            name = used.partition(".")[0]
            if name not in self._variables:
                hint = self._document.hint(name, self._variables)
                self._document.report(place, f"`${{{used}}}`: no earlier step under `drive` has this name{hint}")

    def _path_of_call(self, path: Path, call: dict[str, object], method: str) -> None:
        """Check that the path of a call matches an operation. Skip the check if the call expects status 404 or 405."""
        given = call[method]
        if not isinstance(given, str) or given.startswith(CONTROL_BASE) or call.get("status") in (404, 405):
            return
        below, methods = below_base(self._vocabulary, given), operations_at(self._vocabulary, given)
        if below is not None:
            self._document.report((*path, method), f"write the path below the base; did you mean `{below}`?")
        elif not methods and not given.startswith("${"):
            hint = self._document.hint(given, paths(self._vocabulary))
            self._document.warn((*path, method), f"no operation has the path `{shortened(given)}`{hint}")
        elif methods and method.upper() not in methods:
            possible = ", ".join(sorted(methods))
            self._document.warn((*path, method), f"{method.upper()} is not possible here (possible: {possible})")

    def _operation(self, path: Path, call: Mapping[str, object], method: str) -> Operation | None:
        """Warn of problems in the body of a call that is expected to succeed, and return its operation or None."""
        given, status, body = call[method], call.get("status"), call.get("body")
        row = operations_at(self._vocabulary, given).get(method.upper()) if isinstance(given, str) else None
        if row is None or (isinstance(status, int) and status >= 400):
            return None
        if not row.takes_body or (body is not None and not isinstance(body, dict)):
            return row
        found = [_problems_of_body(model, body or {}) for model in field_sets.models_of(row)]
        for place, message, is_key in min(found, key=len, default=[]):
            self._document.warn((*path, "body", *place), message, key=is_key)
        return row

    def _fields_of_expectation(self, path: Path, expectation: dict[str, object]) -> None:
        """Check that the fields and values in a `where` can occur in what the expectation describes."""
        where, vocabulary = expectation.get("where"), self._vocabulary
        if "event" in expectation:
            self._wheres.check_event(path, where, expectation["event"])
        elif _adds_unknown_names(self._document.value):
            return  # a fault may put any field or value into the response
        elif "delivery" in expectation:
            self._wheres.check_fields(path, where, field_sets.of_delivery(vocabulary), "a delivery")
        elif "resource" in expectation:
            named = PLACEHOLDER.fullmatch(str(expectation["resource"]))
            row = self._calls.get(named[1].partition(".")[0]) if named else None
            creates = row is not None and row.status == 201
            fields = field_sets.of_answer(vocabulary, row) if row and creates else field_sets.of_any(vocabulary)
            self._wheres.check_fields(path, where, fields, "this resource" if row else "any resource")
        elif isinstance(expectation.get("answer"), str):
            row = self._calls.get(str(expectation["answer"]))
            if row is not None:
                what = f"the response to {row.method} {row.path}"
                self._wheres.check_fields(path, where, field_sets.of_answer(vocabulary, row), what)


def _problems_of_body(model: type[BaseModel], body: Mapping[str, object]) -> list[tuple[Path, str, bool]]:
    """Return the problems of a request body: the path, the message, and True if the key (not the value) is wrong."""
    known = names_of(model)
    found: list[tuple[Path, str, bool]] = []
    try:
        model.model_validate(body)
    except ValidationError as error:
        wrong = [one for one in wrongs_of(error, body) if not _is_filled_in(one, body)]
        missing = [dotted(one.path) for one in wrong if one.kind == "missing"]
        for one in wrong:
            if one.kind != "missing":
                message = describe_wrong(one, one.path[-1] if one.path else "body")
                found.append((one.path, f"the call will be refused: {message}", False))
        if missing:
            found.append(((), f"the call will be refused: it needs {', '.join(missing)}", False))
    for name in body if known else ():
        if name not in known:
            message = f"the call ignores `{shortened(name)}`; it has the fields {', '.join(known)}"
            found.append(((name,), message, True))
    return found


def _is_filled_in(one: Wrong, body: Mapping[str, object]) -> bool:
    """Return True if an invalid field, or an object around it, is a placeholder `${…}`, known only during a run."""
    value: object = body
    for part in one.path:
        if not isinstance(value, str):
            value = dig(value, str(part))
    return isinstance(value, str) and PLACEHOLDER.search(value) is not None


def _adds_unknown_names(root: object) -> bool:
    """Return True if a fault in the scenario adds fields or values that the contract does not define."""
    faults = root.get("faults") if isinstance(root, dict) else None
    for fault in faults if isinstance(faults, list) else ():
        parts = [fault, fault.get("deliver")] if isinstance(fault, dict) else []
        if any(isinstance(part, dict) and set(part) & set(OF_NEW_NAMES) for part in parts):
            return True
    return False
