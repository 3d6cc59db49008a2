"""Fields of a contract as Markdown lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from contracts.generator.reference_page.fields import Field


def listed(fields: Iterable[Field], depth: int = 0) -> Iterator[str]:
    """Yield the fields as list items, nested fields indented."""
    for field in fields:
        yield f"{'  ' * depth}- {_described(field)}"
        yield from listed(field.fields, depth + 1)


def shapes_in(fields: Iterable[Field]) -> Iterator[str]:
    """Yield the names of the shapes that fields refer to."""
    for field in fields:
        yield from (part.name for part in field.parts)
        yield from shapes_in(field.fields)


def link(shape: str) -> str:
    """Return a link to the description of a shape."""
    return f"[{shape}](#shape-{shape})"


def _described(field: Field) -> str:
    kind = [field.kind, *field.limits, *(["required"] if field.is_required else [])]
    text = f"`{field.name}` ({', '.join(kind)})"
    if field.text:
        text += f": {' '.join(field.text.split())}"
    if len(field.values) > 1 or (field.values and not field.text):
        values = (f"`{value}`{f' ({_small(meaning)})' if meaning else ''}" for value, meaning in field.values)
        text += f"{'' if field.text else ':'} One of {', '.join(values)}{', or others' if field.is_open else ''}."
    if field.parts:
        text += f"{'' if field.text else ':'} See {', '.join(link(part.name) for part in field.parts)}."
    return text


_NAMES = ("Bitcoin", "Celo", "Kenyan", "Lightning", "Nigerian", "South", "Stellar", "Tanzanian", "Tether", "Zambian")


def _small(meaning: str) -> str:
    """Return a meaning for use in brackets: as one sentence, in lower case except for names."""
    parts = meaning.rstrip(".").split(". ")
    return "; ".join(
        part if not part[1:2].islower() or part.startswith(_NAMES) else part[:1].lower() + part[1:] for part in parts
    )
