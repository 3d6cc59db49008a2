"""Marks parts of a served contract as `observed`, for worlds whose assumptions come from observations of the real
service.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

_KEY = re.compile(rb'^( *)(- )?"?(?P<key>x-provenance|x-basis)?"?(: "?(?P<value>[A-Za-z0-9-]+))?')


def with_observed(document: bytes, observed: Mapping[str, str]) -> bytes:
    """Return a contract in which parts that depend on observed assumptions are marked `observed`, not `assumed`.

    `document` is YAML or JSON with each key on its own line. `observed` maps ids of assumptions to notes. Marked parts
    get the note as `x-observed`.
    """
    lines = document.split(b"\n")
    assumed: dict[int, int] = {}
    """The line numbers of `x-provenance: assumed` in the enclosing mappings, by indentation."""
    bases: dict[int, str] = {}
    for number, line in enumerate(lines):
        found = _KEY.match(line)
        if found is None or not line.strip():
            continue
        indent = len(found[1]) + len(found[2] or b"")
        for other in [one for one in (*assumed, *bases) if one > indent or (one == indent and found[2])]:
            assumed.pop(other, None)
            bases.pop(other, None)
        if found["key"] == b"x-provenance" and found["value"] == b"assumed":
            assumed[indent] = number
        elif found["key"] == b"x-basis" and found["value"]:
            bases[indent] = found["value"].decode()
        if indent in assumed and bases.get(indent) in observed:
            at = assumed.pop(indent)
            lines[at] = _marked(lines[at], observed[bases[indent]])
    return b"\n".join(lines)


def _marked(line: bytes, note: str) -> bytes:
    """Return a line with the note, followed by the given line with `observed` in place of `assumed`."""
    mark = b'"' if line.lstrip(b" -").startswith(b'"') else b""
    beginning = line[: line.index(b"x-provenance") - len(mark)]
    said = beginning + mark + b"x-observed" + mark + b": " + json.dumps(note).encode() + (b"," if mark else b"")
    rest = b" " * len(beginning) + line[len(beginning) :]
    return said + b"\n" + rest.replace(b"assumed", b"observed", 1)
