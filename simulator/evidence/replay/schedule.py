"""The times at which a recording is replayed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from simulator.evidence.corpus import Exchange, Recording
from simulator.kernel.clock import format_timestamp, parse_timestamp
from simulator.kernel.dataclass import dataclass

_TOLERANCE_MS = 5_000
"""Times in responses that differ by less than this differ only because of the duration of the call."""
_MOST_PASSES = 40


@dataclass
class Replayed:
    """One recorded exchange and its counterpart in the replay."""

    recorded: Exchange
    played: Exchange | None = None
    why_not: str = ""
    """The reason why the exchange was not replayed."""
    now_ms: int = 0


class Schedule:
    """The times at which the exchanges in a recording are replayed, in milliseconds since its start."""

    def __init__(self, recording: Recording) -> None:
        self.after_ms = [one.after_ms for one in recording.exchanges]
        self.jumps: set[int] = set()
        """The exchanges before which the clock of the service was advanced."""
        self.known: set[int] = set()
        """The exchanges whose responses contain the time."""
        self._start_ms = parse_timestamp(first) if (first := recording.exchanges[0].at) else None
        self._offset_ms: int | None = None

    @property
    def start_ms(self) -> int | None:
        """The service's time when the recording starts, or None if the recording contains no times. If the recorded
        service was a simulator, its time differs from the clock of the recording machine.
        """
        return None if self._start_ms is None else self._start_ms + (self._offset_ms or 0)

    @property
    def begins(self) -> str:
        """The service's time when the recording starts, as a timestamp, or "" if it is unknown."""
        return "" if self.start_ms is None else format_timestamp(self.start_ms)

    def move(self, at: int, after_ms: int) -> bool:
        """Postpone an exchange to the time `after_ms`, and delay all later exchanges by the same amount. If this is at
        most `_TOLERANCE_MS` later than planned, do nothing. Return True if the schedule changed.
        """
        late = after_ms - self.after_ms[at]
        if self._offset_ms is None:
            self._offset_ms = late if abs(late) > _TOLERANCE_MS else 0
            return self._offset_ms != 0
        if late <= _TOLERANCE_MS:
            return False
        self.after_ms[at:] = [one + late for one in self.after_ms[at:]]
        self.jumps.add(at)
        return True

    def is_certain(self, at: int) -> bool:
        """Return False if the clock may have been advanced immediately before or after an exchange."""
        if not self.jumps or at in self.known:
            return True
        earlier = max((one for one in self.known if one < at), default=-1)
        later = min((one for one in self.known if one > at), default=None)
        return later is not None and not any(earlier < jump <= later for jump in self.jumps)


def scheduled(recording: Recording, play: Callable[[Schedule], Sequence[Replayed]]) -> Schedule:
    """Return the schedule that the times in the recorded responses imply. `play` is a function that replays the
    recording with a schedule.

    A field that contains the current time in the replay is assumed to contain the current time in the recording, too.
    This reveals whether the clock of the recorded service was advanced.
    """
    schedule = Schedule(recording)
    for _ in range(_MOST_PASSES):
        if not _corrected(schedule, play(schedule)):
            break
    return schedule


def _corrected(schedule: Schedule, replay: Sequence[Replayed]) -> bool:
    start_ms = schedule.start_ms
    if start_ms is None:
        return False
    schedule.known.clear()
    for at, one in enumerate(replay):
        recorded_ms = None
        if one.recorded.direction == "webhook" and one.recorded.attempt == 1 and isinstance(one.recorded.request, dict):
            recorded_ms = moment_of(one.recorded.request.get("created_at"))
        elif one.played is not None:
            pairs = pairs_of(one.recorded.response, one.played.response)
            shown = [moment_of(theirs) for theirs, ours in pairs if moment_of(ours) == one.now_ms]
            recorded_ms = max((moment for moment in shown if moment is not None), default=None)
        if recorded_ms is not None:
            schedule.known.add(at)
            if schedule.move(at, recorded_ms - start_ms):
                return True
    return False


def moment_of(value: object) -> int | None:
    if not isinstance(value, str) or len(value) < 19 or value[10:11] != "T":
        return None
    try:
        return parse_timestamp(value)
    except ValueError:
        return None


def pairs_of(recorded: object, played: object) -> Iterator[tuple[object, object]]:
    """Yield each pair of a recorded value and a replayed value at the same path."""
    if isinstance(recorded, Mapping) and isinstance(played, Mapping):
        for name in recorded.keys() & played.keys():
            yield from pairs_of(recorded[name], played[name])
    elif isinstance(recorded, list) and isinstance(played, list):
        for theirs, ours in zip(recorded, played, strict=False):
            yield from pairs_of(theirs, ours)
    else:
        yield recorded, played
