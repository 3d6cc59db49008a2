"""Checks of a scenario that need the vocabulary of the service: its events, actions and operations. The document is
checked before it is converted to models, so one mistake does not hide others. Values with the wrong structure are
skipped, because the models report them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from pydantic import ValidationError

from simulator.engine.faults.models import EFFECTS, InterfaceFault, WebhookFault, wrongs_of_fault
from simulator.engine.scenario.language import field_sets, unreachable
from simulator.engine.scenario.language.action_checks import ActionChecker, placeholders
from simulator.engine.scenario.language.calls import below_base, paths
from simulator.engine.scenario.language.document import Document, Path, shortened
from simulator.engine.scenario.language.drive_checks import DriveChecker
from simulator.engine.scenario.language.schema import Deliver, Fault
from simulator.engine.scenario.language.where_checks import WhereChecker
from simulator.engine.scenario.play.filling import PLACEHOLDER
from simulator.engine.scenario.play.script import CREATED, REQUEST
from simulator.engine.scenario.run.drive import has_receiver
from simulator.engine.text.globs import can_match
from simulator.engine.vocabulary.vocabulary import Vocabulary

_STEP_FIELDS = ("after", "action", "scenario", "target", "environment")
_TIMELINE_FIELDS = ("at", "action", "target", "environment")


def _items(value: Mapping[str, object], name: str) -> Iterable[tuple[Path, dict[str, object]]]:
    """Yield each mapping in the list field `name`, with its path."""
    items = value.get(name)
    if isinstance(items, list):
        for index, item in enumerate(items):
            if isinstance(item, dict):
                yield (name, index), item


class ScenarioChecker:
    """Checks one scenario document. `scenarios` are the names of scenarios to which steps can hand objects over."""

    def __init__(self, document: Document, vocabulary: Vocabulary, scenarios: tuple[str, ...]) -> None:
        self._document = document
        self._vocabulary = vocabulary
        self._scenarios = scenarios
        self._actions = ActionChecker(document, vocabulary)
        self._wheres = WhereChecker(document, vocabulary)

    def check(self) -> None:
        root: dict[str, object] = self._document.value
        rules = list(_items(root, "rules"))
        for path, rule in rules:
            self._rule(path, rule)
        unreachable.warn_of_unreachable_rules(self._document, rules)
        for path, step in _items(root, "timeline"):
            self._groups(path, step, ())
            self._actions.check(path, step, _TIMELINE_FIELDS)
            self._actions.check_target(path, step)
        self._world(root.get("world"))
        for path, fault in _items(root, "faults"):
            self._fault(path, fault)
        variables = {"world", "receiver"} if has_receiver(root) else {"world"}
        drive = DriveChecker(self._document, self._vocabulary, variables)
        for path, step in _items(root, "drive"):
            drive.check_step(path, step)
        for path, expectation in _items(root, "expect"):
            drive.check_expectation(path, expectation)
        below = root.get("with")
        for index, name in enumerate(below if isinstance(below, list) else ()):
            self._document.check_known(("with", index), name, self._scenarios, "scenario")

    # --- rules and timeline -------------------------------------------------------------------------------------

    def _rule(self, path: Path, rule: dict[str, object]) -> None:
        events, where = rule.get("on"), rule.get("where")
        listed = events if isinstance(events, list) else [events]
        known = [*self._vocabulary.events, CREATED, REQUEST]
        for index, event in enumerate(listed):
            place = (*path, "on", index) if isinstance(events, list) else (*path, "on")
            self._document.check_known(place, event, known, "event")
        self._answer(path, rule, is_request=REQUEST in listed)
        groups = self._wheres.check_tests((*path, "where"), where)
        self._wheres.check_rule((*path, "where"), where, listed)
        self._glob((*path, "where", "path"), where)
        kinds = self._kinds_of_rule(listed, where)
        steps = [((*path, *place), step) for place, step in _items(rule, "do")]
        for at, step in steps:
            self._step(at, step, kinds, groups)
        unreachable.warn_of_unreachable_steps(self._document, self._vocabulary, listed, kinds, steps)

    def _answer(self, path: Path, rule: dict[str, object], *, is_request: bool) -> None:
        answer = rule.get("answer")
        if "do" not in rule and "answer" not in rule:
            message = "a rule needs `do` (which may be empty) or `answer`"
            self._document.report_missing(path, ("do", "answer"), message)
        if "do" in rule and "answer" in rule:
            self._document.report((*path, "answer"), "a rule must have either `do` or `answer`, not both", key=True)
        if "answer" in rule and not is_request:
            self._document.report((*path, "answer"), "only a rule `on: request` can have `answer`", key=True)
        if is_request and rule.get("do"):
            self._document.report((*path, "do"), "a rule `on: request` must have `answer`, not `do`", key=True)
        if isinstance(answer, dict):
            place, errors = (*path, "answer", "code"), self._vocabulary.errors
            self._document.check_known(place, answer.get("code"), errors, "error code")

    def _glob(self, path: Path, where: object) -> None:
        """Check that a glob pattern for paths matches the path of at least one operation."""
        glob = where.get("path") if isinstance(where, dict) else None
        if not isinstance(glob, str):
            return
        below = below_base(self._vocabulary, glob)
        if below is not None:
            self._document.report(path, f"write the path below the base; did you mean `{below}`?")
        elif not any(can_match(glob, path) for path in paths(self._vocabulary)):
            hint = self._document.hint(glob, paths(self._vocabulary))
            self._document.warn(path, f"no operation matches the path `{shortened(glob)}`{hint}")

    def _kinds_of_rule(self, events: list[object], where: object) -> tuple[str, ...]:
        """Return the possible kinds of a rule's object, or () if the object can be of any kind."""
        kinds: list[str] = []
        for event in events:
            of_event = self._kinds_of_event(event)
            if not of_event:
                return ()
            kinds += of_event
        wanted = where.get("type") if isinstance(where, dict) else None
        named = [kind for kind in (wanted if isinstance(wanted, list) else [wanted]) if kind in kinds]
        return tuple(dict.fromkeys(named or kinds))

    def _kinds_of_event(self, event: object) -> tuple[str, ...]:
        if event == CREATED:
            return field_sets.kinds_created_silently(self._vocabulary)
        row = self._vocabulary.events.get(event) if isinstance(event, str) else None
        return () if row is None else self._vocabulary.kinds_told_of(row.object)

    def _step(self, path: Path, step: dict[str, object], kinds: tuple[str, ...], groups: frozenset[str]) -> None:
        if "scenario" in step and "action" in step:
            message = "a step must have either `action` or `scenario`, not both"
            self._document.report((*path, "scenario"), message, key=True)
            return
        self._groups(path, step, groups)
        if "scenario" not in step:
            self._actions.check(path, step, _STEP_FIELDS, kinds if "target" not in step else ())
            return
        for name in step:
            if name not in _STEP_FIELDS:
                self._document.report_unknown_name((*path, name), _STEP_FIELDS, "field")
        successor = step["scenario"]
        if not (isinstance(successor, str) and PLACEHOLDER.search(successor)):
            self._document.check_known((*path, "scenario"), successor, self._scenarios, "scenario")

    def _groups(self, path: Path, step: dict[str, object], groups: Collection[str]) -> None:
        """Check that every placeholder `${name}` in a step is a named group in a pattern of the step's rule."""
        for place, used in placeholders(step, path):
            if used not in groups:
                hint = self._document.hint(used, groups)
                self._document.report(place, f"`${{{used}}}` is not a named group of the rule{hint}")

    # --- world and faults ---------------------------------------------------------------------------------------

    def _world(self, world: object) -> None:
        if not isinstance(world, dict):
            return
        environments = tuple(self._vocabulary.provider.environments)
        for initial, action in self._vocabulary.actions.initial:
            entries = world.get(initial.member)
            places: list[tuple[Path, object]] = [(("world", initial.member), entries)]
            if isinstance(entries, list):
                places = [(("world", initial.member, index), entry) for index, entry in enumerate(entries)]
            for path, entry in places:
                if not isinstance(entry, dict):
                    continue
                given = {key: value for key, value in entry.items() if key != "environment"}
                self._actions.check_parameters(path, action, given, ("environment",))
                if entry.get("environment", environments[0]) not in environments:
                    message = f"unknown environment; use {' or '.join(environments)}"
                    self._document.report((*path, "environment"), message)

    def _fault(self, path: Path, fault: dict[str, object]) -> None:
        """Check that a fault has an effect, and that at least one possible call or delivery matches the fault."""
        matches_calls, matches_webhooks = "match" in fault, "webhook" in fault
        if matches_calls == matches_webhooks:
            message = "a fault needs either `match` (calls) or `webhook` (deliveries)"
            self._document.report_missing(path, ("match", "webhook"), message)
            return
        if matches_webhooks and "deliver" not in fault:
            # If an effect was written next to `deliver`, the models report that it belongs inside `deliver`.
            if not any(name in Deliver.model_fields for name in fault):
                message = "`deliver` is missing: the effect on the deliveries"
                self._document.report_missing(path, ("deliver",), message)
            return
        model = WebhookFault if matches_webhooks else InterfaceFault
        for name in fault:
            if name in Fault.model_fields and name not in model.model_fields:
                beside = "webhook" if matches_webhooks else "match"
                self._document.report((*path, name), f"`{name}` cannot be used with `{beside}`", key=True)
        try:
            read = model.model_validate(fault)
        except ValidationError:
            return
        for one in wrongs_of_fault(read, self._vocabulary):
            if one.path == EFFECTS[:1]:
                self._document.report_missing(path, EFFECTS, one.why)
            else:
                self._document.report((*path, *one.path), one.why)
