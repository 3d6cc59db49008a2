"""The data that rules can test: an object or a request, the request that created the object, and related resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property
from itertools import chain

from simulator.engine.records.origins import NOTHING_CARRIED, RequestOrigin, origin_of
from simulator.engine.records.records import find, kind_of, render
from simulator.engine.scenario.play.matching import ABSENT, CARRIED, dig
from simulator.engine.text.json import Shown, object_of
from simulator.engine.vocabulary.vocabulary import vocabulary_of
from simulator.kernel.dataclass import dataclass
from simulator.kernel.texts import NO_MEMBERS
from simulator.kernel.world import World


def with_ancestors(world: World, object_id: str) -> Iterator[str]:
    """Yield an object, its parent (such as the payment of a run), the parent's parent, and so on."""
    seen: list[str] = []
    pending: str | None = object_id
    while pending and pending not in seen:
        seen.append(pending)
        yield pending
        record = find(world, pending)
        parent = "" if record is None else kind_of(world, record).parent
        pending = getattr(record, parent) if parent else None


def origin_with_ancestors(world: World, object_id: str) -> RequestOrigin:
    """Return the request that created an object, or else the one that created its nearest ancestor."""
    own = origin_of(world, object_id)  # This is nearly always the result, and takes a third of the time.
    if own.body is not NO_MEMBERS:
        return own
    for ancestor in with_ancestors(world, object_id):
        origin = origin_of(world, ancestor)
        if origin.body is not NO_MEMBERS:
            return origin
    return NOTHING_CARRIED


@dataclass(eq=False)
class View:
    """Looks up dotted paths in an object (`object_id`) or a request (`body`). A path can lead to a related resource."""

    world: World
    environment: str
    subject: Shown
    object_id: str = ""
    body: Mapping[str, object] | None = None
    seen: dict[str, object] = field(default_factory=dict, init=False)

    def look(self, path: str) -> object:
        """Return the value at a path, or `ABSENT`. Values are cached, because many rules test the same paths."""
        seen = self.seen
        if path not in seen:
            head, _, rest = path.partition(".")
            if head not in CARRIED and head not in vocabulary_of(self.world).roots:
                seen[path] = dig(self.subject, path)
            elif rest:
                seen[path] = dig(self.look(head), rest)
            else:
                seen[path] = self._request if head in CARRIED else self._shown(self._named(head))
        return seen[path]

    @cached_property
    def _request(self) -> Mapping[str, object]:
        if self.body is not None:
            return self.body
        return object_of(origin_with_ancestors(self.world, self.object_id).body)

    def _shown(self, record_id: str | None) -> object:
        record = find(self.world, record_id) if record_id else None
        if record is None or record.environment != self.environment:
            return ABSENT
        return render(self.world, record)

    def _named(self, root: str) -> str | None:
        """Return the id of a related resource of the kind `root`, or None. A resource is related if the call uses it up
        (such as a quote), or if the object, the request or another related resource contains its id.
        """
        vocabulary = vocabulary_of(self.world)
        kinds = vocabulary.roots[root]
        using = vocabulary.using.get(root) if self.body is not None else None
        used_up = using.fullmatch(str(self.subject.get("path", ""))) if using else None
        if used_up:
            return used_up[1]
        written = (dig(source, path) for source in (self.subject, self._request) for path in kinds[0].named_by)
        name = kinds[0].named_by[0]
        through = (
            getattr(find(self.world, named), name, None)
            for other, others in vocabulary.roots.items()
            if any(name in kind.refers for kind in others) and (named := self._named(other))
        )
        return next((found for found in chain(written, through) if isinstance(found, str) and found), None)
