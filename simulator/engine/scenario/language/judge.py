"""What the models of the language cannot know: names of actions, events, scenarios and variables, and parameters.

Judged on the document as written, so that one mistake hides no other; parts of the wrong shape are skipped, because
the models report them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches

from pydantic import ValidationError

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.faults.models import EFFECTS, InterfaceFault, WebhookFault, wrongs_of_fault
from simulator.engine.rows.bases import split_base
from simulator.engine.rows.operation import Operation
from simulator.engine.rows.vocabulary import Vocabulary
from simulator.engine.scenario.language import drives, field_sets, unreachable
from simulator.engine.scenario.language.calls import is_path_glob, methods_at, paths
from simulator.engine.scenario.language.document import Document, Path, shortened
from simulator.engine.scenario.language.parameters import names_of, wrongs
from simulator.engine.scenario.language.parts import Tests
from simulator.engine.scenario.language.pattern import compiled
from simulator.engine.scenario.language.schema import Deliver, Fault
from simulator.engine.scenario.language.where_checks import WhereJudge
from simulator.engine.scenario.play.filling import PLACEHOLDER
from simulator.engine.scenario.play.script import CREATED, REQUEST
from simulator.engine.scenario.run.drive import METHODS, UNNAMED_STEPS, has_receiver, is_named

_STEP_FIELDS = ("after", "action", "scenario", "target", "environment")
_TIMELINE_FIELDS = ("at", "action", "target", "environment")
_DRIVE_FIELDS = ("action", "target", "environment")
_MEANT = {"at": "after", "after": "at"}
"""What is written for what: steps of rules count from the step before, those of a timeline from its beginning."""


def report_unknown(document: Document, path: Path, names: Iterable[str], what: str, of: str = "") -> None:
    """Report an unknown key, with the name that was probably meant."""
    name = str(path[-1])
    meant = document.nearest(name, names)
    document.report_unknown(path, f"unknown {what} `{shortened(name)}`{of}{_did_you_mean(meant)}", meant)


def _did_you_mean(meant: str) -> str:
    return f"; did you mean `{meant}`?" if meant else ""


def _placeholders(value: object, path: Path = ()) -> Iterable[tuple[Path, str]]:
    """The names inside `${…}` anywhere in a value, with the place of the text they stand in."""
    if isinstance(value, str):
        for used in PLACEHOLDER.findall(value):
            yield path, used
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _placeholders(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _placeholders(item, (*path, index))


def _items(value: Mapping[str, object], name: str) -> Iterable[tuple[Path, dict[str, object]]]:
    """The mappings in a list member, with their paths; what has another shape is the models' business."""
    items = value.get(name)
    if isinstance(items, list):
        for index, item in enumerate(items):
            if isinstance(item, dict):
                yield (name, index), item


class ScenarioJudge:
    """What the models cannot know, judged on the document as written; parts of the wrong shape are skipped."""

    def __init__(self, document: Document, vocabulary: Vocabulary, scenarios: tuple[str, ...]) -> None:
        self._document = document
        self._vocabulary = vocabulary
        self._actions = vocabulary.actions
        self._events = tuple(vocabulary.events)
        self._scenarios = scenarios
        self._wheres = WhereJudge(document, vocabulary, self._hint)
        self._calls: dict[str, Operation] = {}
        """What the named steps of the drive call, as far as it is known."""

    def judge(self) -> None:
        root: dict[str, object] = self._document.value
        rules = list(_items(root, "rules"))
        for path, rule in rules:
            self._rule(path, rule)
        unreachable.warn_of_dead_rules(self._document, rules)
        for path, step in _items(root, "timeline"):
            self._action(path, step, _TIMELINE_FIELDS, kinds=(), groups=frozenset())
            self._target_given(path, step)
        self._world(root.get("world"))
        for path, fault in _items(root, "faults"):
            self._fault(path, fault)
        variables = {"world", "receiver"} if has_receiver(root) else {"world"}
        for path, step in _items(root, "drive"):
            self._drive(path, step, variables)
        for path, expectation in _items(root, "expect"):
            self._expect(path, expectation, variables)
        below = root.get("with")
        for index, name in enumerate(below if isinstance(below, list) else ()):
            self._scenario(("with", index), name)

    def _hint(self, name: str, names: Iterable[str]) -> str:
        return _did_you_mean(self._document.nearest(name, names))

    def _below_base(self, path: str) -> str | None:
        """The rest of a path that begins with a base path, or None for any other path."""
        environment, below = split_base(self._vocabulary.provider.environments, path)
        return below or "/" if environment else None

    def _lacks(self, path: Path, names: tuple[str, ...], message: str) -> None:
        self._document.report_missing(path, path, names, message)

    def _rule(self, path: Path, rule: dict[str, object]) -> None:
        events = rule.get("on")
        listed = events if isinstance(events, list) else [events]
        for index, event in enumerate(listed):
            place = (*path, "on", index) if isinstance(events, list) else (*path, "on")
            if isinstance(event, str) and event not in (*self._events, CREATED, REQUEST):
                hint = self._hint(event, [*self._events, CREATED, REQUEST])
                self._document.report(place, f"unknown event `{event}`{hint}")
        self._answer(path, rule, is_request=REQUEST in listed)
        groups = self._where((*path, "where"), rule.get("where"))
        self._wheres.of_rule((*path, "where"), rule.get("where"), listed)
        self._glob((*path, "where", "path"), rule.get("where"))
        kinds = self._kinds_of(listed, rule.get("where"))
        steps = [((*path, *place), step) for place, step in _items(rule, "do")]
        for at, step in steps:
            self._step(at, step, kinds, groups)
        unreachable.warn_of_dead_steps(self._document, self._vocabulary, listed, kinds, steps)

    def _answer(self, path: Path, rule: dict[str, object], *, is_request: bool) -> None:
        answer = rule.get("answer")
        if "do" not in rule and "answer" not in rule:
            self._lacks(path, ("do", "answer"), "a rule needs `do` (which may be empty) or `answer`")
        if "do" in rule and "answer" in rule:
            self._document.report((*path, "answer"), "a rule has `do` or `answer`, not both", key=True)
        if "answer" in rule and not is_request:
            self._document.report((*path, "answer"), "only a rule `on: request` can answer", key=True)
        if is_request and rule.get("do"):
            self._document.report((*path, "do"), "a rule `on: request` answers; it has no steps", key=True)
        code = answer.get("code") if isinstance(answer, dict) else None
        self._code((*path, "answer", "code"), code)

    def _code(self, path: Path, code: object) -> None:
        errors = self._vocabulary.errors
        if isinstance(code, str) and code not in errors:
            self._document.report(path, f"unknown error code `{code}`{self._hint(code, errors)}")

    def _where(self, path: Path, where: object) -> frozenset[str]:
        """Judge the tests; returns the named groups of the patterns."""
        groups: set[str] = set()
        for name, wanted in (where if isinstance(where, dict) else {}).items():
            if not isinstance(wanted, dict):
                continue
            if not wanted:
                names = ", ".join(Tests.model_fields)
                self._document.report((*path, name), f"it asks for nothing; write a value or one of {names}")
            pattern = wanted.get("matches")
            if isinstance(pattern, str):
                with suppress(ValueError):
                    groups |= compiled(pattern).groups
        return frozenset(groups)

    def _glob(self, path: Path, holder: object) -> None:
        """Whether a glob can fit a path below the base."""
        glob = holder.get("path") if isinstance(holder, dict) else None
        if not isinstance(glob, str):
            return
        below = self._below_base(glob)
        if below is not None:
            self._document.report(path, f"a path is given below the base; did you mean `{below}`?")
        elif not is_path_glob(self._vocabulary, glob):
            self._document.warn(
                path, f"no call has the path `{shortened(glob)}`{self._hint(glob, paths(self._vocabulary))}"
            )

    def _call_path(self, path: Path, call: dict[str, object], method: str) -> None:
        """Whether a call of the drive goes to an operation; one that expects 404 or 405 may go anywhere."""
        given = call[method]
        if not isinstance(given, str) or given.startswith(CONTROL_BASE) or call.get("status") in (404, 405):
            return
        below, methods = self._below_base(given), methods_at(self._vocabulary, given)
        if below is not None:
            self._document.report((*path, method), f"a path is given below the base; did you mean `{below}`?")
        elif not methods and not given.startswith("${"):
            message = f"there is no path `{shortened(given)}`{self._hint(given, paths(self._vocabulary))}"
            self._document.warn((*path, method), message)
        elif methods and method.upper() not in methods:
            possible = ", ".join(sorted(methods))
            self._document.warn((*path, method), f"{method.upper()} is not possible here (possible: {possible})")

    def _kinds_of(self, events: list[object], where: object) -> tuple[str, ...]:
        """The kinds of resource that a rule's object can be; () when it may be any."""
        kinds: list[str] = []
        for event in events:
            told_of = self._told_of(event)
            if not told_of:
                return ()
            kinds += told_of
        asked = where.get("type") if isinstance(where, dict) else None
        named = [kind for kind in (asked if isinstance(asked, list) else [asked]) if kind in kinds]
        return tuple(dict.fromkeys(named or kinds))

    def _told_of(self, event: object) -> tuple[str, ...]:
        if event == CREATED:
            return field_sets.made_silently(self._vocabulary)
        row = self._vocabulary.events.get(event) if isinstance(event, str) else None
        return () if row is None else self._vocabulary.kinds_told_of(row.object)

    def _step(self, path: Path, step: dict[str, object], kinds: tuple[str, ...], groups: frozenset[str]) -> None:
        if "scenario" not in step:
            self._action(path, step, _STEP_FIELDS, kinds if "target" not in step else (), groups)
            return
        if "action" in step:
            self._document.report((*path, "scenario"), "a step has `action` or `scenario`, not both", key=True)
            return
        self._groups(path, step, groups)
        for name in step:
            if name not in _STEP_FIELDS:
                report_unknown(self._document, (*path, name), _STEP_FIELDS, "field")
        successor = step["scenario"]
        if not (isinstance(successor, str) and PLACEHOLDER.search(successor)):
            self._scenario((*path, "scenario"), successor)

    def _scenario(self, path: Path, name: object) -> None:
        if isinstance(name, str) and name not in self._scenarios:
            self._document.report(path, f"unknown scenario `{name}`{self._hint(name, self._scenarios)}")

    def _groups(self, path: Path, step: dict[str, object], groups: Collection[str]) -> None:
        for place, used in _placeholders(step, path):
            if used not in groups:
                self._document.report(place, f"`${{{used}}}` is no named group of the rule{self._hint(used, groups)}")

    def _variables(self, path: Path, value: object, variables: Collection[str]) -> None:
        for place, used in _placeholders(value, path):
            name = used.partition(".")[0]
            if name not in variables:
                hint = self._hint(name, variables)
                self._document.report(place, f"`${{{used}}}`: no earlier step of the drive is named so{hint}")

    def _action(
        self,
        path: Path,
        step: dict[str, object],
        fields: tuple[str, ...],
        kinds: tuple[str, ...],
        groups: Collection[str],
    ) -> None:
        """An action step: its name and its parameters."""
        name = step.get("action")
        self._groups(path, step, groups)
        if name is None:
            for key in step:
                if key not in fields and self._document.nearest(key, fields):
                    report_unknown(self._document, (*path, key), fields, "field")
            if "scenario" in fields:
                self._lacks(path, ("action", "scenario"), "a step needs `action` or `scenario`")
            return
        if not isinstance(name, str):
            return
        if name not in self._actions.rows:
            self._document.report((*path, "action"), f"unknown action `{name}`{self._hint(name, self._actions.rows)}")
            for key in step:
                if key not in fields and len(key) < 20 and get_close_matches(key, fields, cutoff=0.8):
                    report_unknown(self._document, (*path, key), fields, "field")
            return
        parameters = {key: value for key, value in step.items() if key not in fields}
        self._parameters(path, name, parameters, fields, kinds)

    def _parameters(
        self, path: Path, action: str, given: dict[str, object], fields: Iterable[str], kinds: tuple[str, ...]
    ) -> None:
        """Report what the best fitting row of the action finds wrong with the parameters."""
        rows = [row for row in self._actions.rows[action] if not kinds or not row.kinds or set(row.kinds) & set(kinds)]
        if not rows:
            possible = ", ".join(self._actions.kinds(action))
            message = f"the action {action} does not act on {', '.join(kinds)}; it acts on {possible}"
            self._document.report((*path, "action"), message)
            return
        found = [wrongs(row, given, self._events) for row in rows]
        for place, kind, message in min(found, key=len):
            if kind == "unknown" and _MEANT.get(str(place[-1]), "") in fields:
                meant = _MEANT[str(place[-1])]
                message = f"unknown parameter `{place[-1]}` of {action}{_did_you_mean(meant)}"
                self._document.report_unknown((*path, *place), message, meant)
            elif kind == "unknown":
                known = [*(name for row in rows for name in names_of(row.parameters())), *fields]
                report_unknown(self._document, (*path, *place), known, "parameter", f" of {action}")
            elif kind == "missing":
                self._document.report_missing((*path, *place[:-1]), (*path, *place), (str(place[-1]),), message)
            else:
                self._document.report((*path, *place), message)

    def _target_given(self, path: Path, step: dict[str, object]) -> None:
        action = step.get("action")
        rows = self._actions.rows.get(action) if isinstance(action, str) else None
        if rows and "target" not in step and all(row.kinds for row in rows):
            self._document.report(path, f"the action {action} needs a `target` here")

    def _world(self, world: object) -> None:
        if not isinstance(world, dict):
            return
        environments = tuple(self._vocabulary.provider.environments)
        for initial, action in self._actions.initial:
            member = initial.member
            entries = world.get(member)
            places: list[tuple[Path, object]] = [(("world", member), entries)]
            if isinstance(entries, list):
                places = [(("world", member, index), entry) for index, entry in enumerate(entries)]
            for path, entry in places:
                if not isinstance(entry, dict):
                    continue
                given = {key: value for key, value in entry.items() if key != "environment"}
                self._parameters(path, action, given, ("environment",), ())
                if entry.get("environment", environments[0]) not in environments:
                    self._document.report((*path, "environment"), f"it is {' or '.join(environments)}")

    def _fault(self, path: Path, fault: dict[str, object]) -> None:
        """Whether a fault does something, and to a call or delivery that there can be."""
        about_calls, about_webhooks = "match" in fault, "webhook" in fault
        if about_calls == about_webhooks:
            self._lacks(path, ("match", "webhook"), "a fault needs either `match` (calls) or `webhook` (deliveries)")
            return
        if about_webhooks and "deliver" not in fault:
            inside = [name for name in fault if name in Deliver.model_fields]
            if not inside:  # else it is said of them that they belong inside
                self._lacks(path, ("deliver",), "`deliver` is missing: what happens to the deliveries")
            return
        model = WebhookFault if about_webhooks else InterfaceFault
        for name in fault:
            if name in Fault.model_fields and name not in model.model_fields:
                beside = "webhook" if about_webhooks else "match"
                self._document.report((*path, name), f"`{name}` does not go with `{beside}`", key=True)
        try:
            read = model.model_validate(fault)
        except ValidationError:
            return
        for one in wrongs_of_fault(read, self._vocabulary):
            if one.path == EFFECTS[:1]:
                self._lacks(path, EFFECTS, one.why)
            else:
                self._document.report((*path, *one.path), one.why)

    def _drive(self, path: Path, step: dict[str, object], variables: set[str]) -> None:
        self._variables(path, step, variables)
        if "receiver" in step or ("advance" in step and "action" not in step):
            return
        place, content = path, step
        if is_named(step):
            name, named = next(iter(step.items()))
            variables.add(name)
            if not isinstance(named, dict):
                return
            place, content = (*path, name), named
        if "action" in content:
            self._action(place, content, _DRIVE_FIELDS, (), {used for _, used in _placeholders(content)})
            self._target_given(place, content)
            return
        code = content.get("code")
        self._code((*path, "answer", "code"), code)
        if sum(method in content for method in METHODS) != 1:
            message = f"a call needs exactly one of {', '.join(METHODS)} (or: advance, action, receiver)"
            self._lacks(place, (*METHODS, *UNNAMED_STEPS), message)
            return
        method = next(method for method in METHODS if method in content)
        self._call_path(place, content, method)
        row = drives.judge_call(self._vocabulary, self._document, place, content, method)
        if row is not None and place != path:
            self._calls[str(place[-1])] = row

    def _expect(self, path: Path, expectation: dict[str, object], variables: set[str]) -> None:
        for member in ("event", "delivery"):
            event = expectation.get(member)
            if isinstance(event, str) and event not in self._events:
                self._document.report((*path, member), f"unknown event `{event}`{self._hint(event, self._events)}")
        answer = expectation.get("answer")
        if isinstance(answer, str) and answer not in variables:
            self._document.report((*path, "answer"), f"no step of the drive is named `{answer}`")
        self._where((*path, "where"), expectation.get("where"))
        self._expected((*path, "where"), expectation)
        self._variables(path, expectation, variables)

    def _expected(self, path: Path, expectation: dict[str, object]) -> None:
        """Whether what is expected can be there."""
        where = expectation.get("where")
        if "event" in expectation:
            self._wheres.of_event(path, where, expectation["event"])
        elif drives.surprises(self._document.value):
            return  # then an answer may have what nobody knows
        elif "delivery" in expectation:
            self._wheres.of_sight(path, where, field_sets.of_delivery(self._vocabulary), "a delivery")
        elif "resource" in expectation:
            row = self._calls.get(drives.name_in(expectation["resource"]))
            sight = (
                field_sets.of_any(self._vocabulary)
                if row is None or row.status != 201
                else field_sets.of_answer(self._vocabulary, row)
            )
            self._wheres.of_sight(path, where, sight, "this resource" if row else "any resource")
        elif isinstance(expectation.get("answer"), str):
            row = self._calls.get(str(expectation["answer"]))
            if row is not None:
                self._wheres.of_sight(
                    path, where, field_sets.of_answer(self._vocabulary, row), f"the answer to {row.method} {row.path}"
                )
