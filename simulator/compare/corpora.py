"""Replays a corpus (a directory of recordings), and lists the differences that are not accepted."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import field
from functools import partial

from simulator.compare.accepting import Accepted, excused
from simulator.compare.differences import Differ, Difference, Found, compare_answers, differing
from simulator.compare.replay import Comparison, with_code
from simulator.compare.verdicts import meaning_of, place_of
from simulator.engine.text.json import Shown
from simulator.evidence.corpus import Corpus, Exchange, Recording
from simulator.evidence.corpus.known import known
from simulator.evidence.local import Simulators
from simulator.evidence.replay.players import LocalPlayer
from simulator.evidence.replay.replaying import Player, replay
from simulator.evidence.replay.schedule import Replayed, Schedule, pairs_of, scheduled
from simulator.kernel.dataclass import dataclass

_HEADERS = re.compile(r"idempot|retry-after|allow$")
"""The response headers whose presence is compared."""


@dataclass
class Judged(Comparison):
    """The result of a comparison in which accepted differences are counted separately."""

    accepted: list[Accepted] = field(default_factory=list)

    def take(self, difference: Difference) -> None:
        shown = {**vars(difference), "now": difference.simulated}
        if not any(one.excuses(shown) for one in self.accepted):
            self.differences.append(difference)

    def readable(self) -> str:
        return "\n".join([*excused(self.accepted), super().readable()])


def compare_corpus(
    corpus: Corpus, *, observed: Sequence[Shown] = (), accepted: Sequence[Accepted] = (), values: bool = False,
    target: Player | None = None,
) -> Judged:  # fmt: skip
    """Replay all recordings and compare the responses. `target` is the service that receives the calls, by default a
    new simulated world for each recording.
    """
    result = Judged(accepted=list(accepted), is_service=target is not None)
    result.skipped += map(str, corpus.damaged)
    with ExitStack() as stack:
        play: Callable[[Recording], list[Replayed]]
        if target is None:
            play = partial(_in_a_world, stack.enter_context(closing(Simulators())), observed)
        else:
            play = partial(_at_service, target)
        for recording in corpus.recordings:
            counterparts = Counterparts()
            for one in play(recording) if recording.exchanges else ():
                _compare(recording.name, one, result, values, counterparts)
    return result


def _at_service(target: Player, recording: Recording) -> list[Replayed]:
    return replay(recording, target, Schedule(recording))


def _in_a_world(simulators: Simulators, observed: Sequence[Shown], recording: Recording) -> list[Replayed]:
    def play(schedule: Schedule) -> list[Replayed]:
        with closing(LocalPlayer(simulators, schedule.begins, {}, observed)) as player:
            return replay(recording, player, schedule)

    return play(scheduled(recording, play))


def _compare(name: str, one: Replayed, result: Judged, values: bool, counterparts: Counterparts) -> None:
    recorded = one.recorded
    what = f"{recorded.method} {recorded.path}" if recorded.direction == "call" else f"webhook {recorded.operation}"
    if one.played is None:
        result.skipped.append(f"{name}:{recorded.n} {what}: {one.why_not}")
        return
    place = f"event {recorded.operation}" if recorded.operation else ""
    if recorded.direction == "call":
        place = place_of(recorded.method, recorded.path, one.played.status or 0)
    counterparts.learn(recorded, one.played)
    differ = differing(place, values=values, agree=counterparts.agree)
    found = [*_differences(recorded, one.played, values, differ)]
    if result.is_service and any(kind == "state" for kind, *_ in found):
        result.skipped.append(f"{name}:{recorded.n} {what}: its status depends on outside events")
        return
    result.replayed += 1
    for kind, pointer, theirs, ours in found:
        meaning = meaning_of(place, kind, pointer, theirs)
        if result.is_service and kind == "shape":  # what the service adds is tolerated, what it removes is not
            meaning = "addition" if theirs == "absent" else meaning_of(place, kind, pointer, "absent")
        operation = recorded.operation or what
        result.take(Difference(recorded.n, f"{name} {what}", kind, pointer, theirs, ours, meaning, operation))


def _differences(recorded: Exchange, played: Exchange, values: bool, differ: Differ) -> Found:
    if recorded.direction == "webhook":
        yield from compare_answers(recorded.request, played.request, values=values, differ=differ)
        return
    if recorded.status != played.status:
        pair = [with_code(one.status or 0, one.response) for one in (recorded, played)]
        yield "status", "", pair[0], pair[1]
        return
    for header in sorted({*recorded.response_headers, *played.response_headers}):
        theirs, ours = header in recorded.response_headers, header in played.response_headers
        if _HEADERS.search(header) and theirs != ours:
            yield "header", header, "present" if theirs else "absent", "present" if ours else "absent"
    yield from compare_answers(recorded.response, played.response, values=values, differ=differ)


class Counterparts:
    """The ids and other values of a recording, each with the value that replaces it in the replay. Both sides are
    sanitised with different keys, so equal strings have different pseudonyms. Two values become a pair when both occur
    for the first time, at the same location of a request or response.
    """

    def __init__(self) -> None:
        self._ours: dict[object, object] = {}
        self._theirs: dict[object, object] = {}
        self._hides_amounts = False

    def learn(self, recorded: Exchange, played: Exchange) -> None:
        """Pair the values in the recorded request with those at the same paths in the replayed one, before responses
        are compared.
        """
        self._hides_amounts = recorded.hides_amounts
        if recorded.direction == "call":
            for theirs, ours in pairs_of(recorded.request, played.request):
                self._is_pair(theirs, ours)

    def agree(self, pointer: str, recorded: object, simulated: object) -> bool:
        """Return True if two different values at this path are pseudonyms that correspond."""
        name = pointer.rpartition("/")[2] if not pointer[-1:].isdecimal() else pointer.split("/")[-2]
        if name in known().numeric:
            return self._hides_amounts and name in known().amounts
        return _is_replaced(recorded) and _is_replaced(simulated) and self._is_pair(recorded, simulated)

    def _is_pair(self, theirs: object, ours: object) -> bool:
        if theirs not in self._ours and ours not in self._theirs:
            self._ours[theirs], self._theirs[ours] = ours, theirs
        return self._ours.get(theirs) == ours and self._theirs.get(ours) == theirs


def _is_replaced(value: object) -> bool:
    """Return True if sanitising a recording replaces this value with a pseudonym."""
    if isinstance(value, str):
        return value not in known().values and not known().prefix_of(value)
    return value is not None and not isinstance(value, bool)
