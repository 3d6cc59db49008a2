"""What the rules see: an object or a request, what its request carried, its beneficiary, its quote."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from simulator.engine.records.origins import NOTHING_CARRIED, RequestOrigin, origin_of
from simulator.engine.records.records import find, kind_of, render
from simulator.engine.scenario.play.matching import ABSENT, DERIVED, dig
from simulator.engine.text.json import JsonObject, Shown
from simulator.engine.text.texts import object_of
from simulator.kernel.texts import NO_MEMBERS
from simulator.kernel.world import World

_CONFIRM = re.compile(r"^/quotes/([^/]+)/confirm$")


def with_ancestors(world: World, object_id: str) -> Iterator[str]:
    """The object, then what it belongs to: the recurring payment of a run, the wallet of a deposit or invoice."""
    seen: list[str] = []
    pending: str | None = object_id
    while pending and pending not in seen:
        seen.append(pending)
        yield pending
        record = find(world, pending)
        parent = "" if record is None else kind_of(world, record).parent
        pending = getattr(record, parent) if parent else None


def origin_with_ancestors(world: World, object_id: str) -> RequestOrigin:
    """What the request carried that made the object, or what it belongs to."""
    for member in with_ancestors(world, object_id):
        origin = origin_of(world, member)
        if origin.body is not NO_MEMBERS:
            return origin
    return NOTHING_CARRIED


class View:
    """Dotted paths into one object (`object_id`) or one request (`body`)."""

    def __init__(
        self,
        world: World,
        environment: str,
        subject: Shown,
        object_id: str = "",
        body: Mapping[str, object] | None = None,
    ) -> None:
        self._world = world
        self._environment = environment
        self._subject = subject
        self._object_id = object_id
        self._body = body
        self._origin: RequestOrigin | None = None
        self._carried: JsonObject | None = None
        self._seen: dict[str, object] = {}

    def look(self, path: str) -> object:
        """The value at a path, or ABSENT; the same however often it is asked for, as many rules name the same."""
        seen = self._seen
        if path not in seen:
            head, _, rest = path.partition(".")
            if head not in DERIVED:
                seen[path] = dig(self._subject, path)
            elif rest:
                seen[path] = dig(self.look(head), rest)
            else:
                seen[path] = self._root(head)
        return seen[path]

    def may_carry(self, name: bytes) -> bool:
        """Whether the request of the object may have carried a member of this name, given as JSON."""
        return name in self._made_by().body.read()

    def _made_by(self) -> RequestOrigin:
        if self._origin is None:
            self._origin = origin_with_ancestors(self._world, self._object_id)
        return self._origin

    def _root(self, head: str) -> object:
        if head == "beneficiary":
            return self._shown(self._beneficiary_id())
        return self._shown(self._quote_id()) if head == "quote" else self._request()

    def _request(self) -> Mapping[str, object]:
        if self._body is not None:
            return self._body
        if self._carried is None:
            self._carried = object_of(self._made_by().body)
        return self._carried

    def _shown(self, record_id: object) -> object:
        record = find(self._world, record_id) if isinstance(record_id, str) else None
        if record is None or record.environment != self._environment:
            return ABSENT
        return render(self._world, record)

    def _beneficiary_id(self) -> object:
        """Named by the object or the request itself, by its recipient, or by the quote."""
        sources: list[object] = [self._subject, self._request()]
        quote_id = self._quote_id()
        sources.append(find(self._world, quote_id) if isinstance(quote_id, str) else None)
        for source in sources:
            if isinstance(source, Mapping):
                found = source.get("beneficiary_id") or dig(source, "recipient.beneficiary_id")
            else:
                found = getattr(source, "beneficiary_id", None)
            if isinstance(found, str) and found:
                return found
        return None

    def _quote_id(self) -> object:
        confirmed = _CONFIRM.match(str(self._subject.get("path", ""))) if self._body is not None else None
        if confirmed is not None:
            return confirmed[1]
        return self._subject.get("quote_id") or self._request().get("quote_id")
