"""The data that rules can test: an object or a request, the request that created the object, and related resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from simulator.engine.records.origins import NOTHING_CARRIED, RequestOrigin, origin_of
from simulator.engine.records.records import find, kind_of, render
from simulator.engine.scenario.play.matching import ABSENT, CARRIED, dig
from simulator.engine.text.json import JsonObject, Shown
from simulator.engine.text.texts import object_of
from simulator.engine.vocabulary.vocabulary import vocabulary_of
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


class View:
    """Looks up dotted paths in an object (`object_id`) or a request (`body`). A path can lead to a related resource."""

    def __init__(
        self,
        world: World,
        environment: str,
        subject: Shown,
        object_id: str = "",
        body: Mapping[str, object] | None = None,
    ) -> None:
        self._world = world
        self._vocabulary = vocabulary_of(world)
        self._environment = environment
        self._subject = subject
        self._object_id = object_id
        self._body = body
        self._origin: RequestOrigin | None = None
        self._carried: JsonObject | None = None
        self._seen: dict[str, object] = {}

    def look(self, path: str) -> object:
        """Return the value at a path, or `ABSENT`. Values are cached, because many rules test the same paths."""
        seen = self._seen
        if path not in seen:
            head, _, rest = path.partition(".")
            if head not in CARRIED and head not in self._vocabulary.roots:
                seen[path] = dig(self._subject, path)
            elif rest:
                seen[path] = dig(self.look(head), rest)
            else:
                seen[path] = self._request() if head in CARRIED else self._shown(self._named(head))
        return seen[path]

    def carried_text(self) -> bytes:
        """Return the body of the request that created the object, as JSON bytes."""
        return self._creating_request().body.read()

    def _creating_request(self) -> RequestOrigin:
        if self._origin is None:
            self._origin = origin_with_ancestors(self._world, self._object_id)
        return self._origin

    def _request(self) -> Mapping[str, object]:
        if self._body is not None:
            return self._body
        if self._carried is None:
            self._carried = object_of(self._creating_request().body)
        return self._carried

    def _shown(self, record_id: str | None) -> object:
        record = find(self._world, record_id) if record_id else None
        if record is None or record.environment != self._environment:
            return ABSENT
        return render(self._world, record)

    def _named(self, root: str) -> str | None:
        """Return the id of a related resource of the kind `root`, or None. A resource is related if the call uses it up
        (such as a quote), or if the object, the request or another related resource contains its id.
        """
        kinds = self._vocabulary.roots[root]
        using = self._vocabulary.using.get(root) if self._body is not None else None
        used_up = using.fullmatch(str(self._subject.get("path", ""))) if using else None
        if used_up:
            return used_up[1]
        for source in (self._subject, self._request()):
            for path in kinds[0].named_by:
                found = dig(source, path)
                if isinstance(found, str) and found:
                    return found
        field = kinds[0].named_by[0]
        for other, others in self._vocabulary.roots.items():
            if any(field in kind.refers for kind in others):
                named = self._named(other)
                found = getattr(find(self._world, named), field, None) if named else None
                if isinstance(found, str) and found:
                    return found
        return None
