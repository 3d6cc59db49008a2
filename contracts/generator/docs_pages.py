"""The pages of `simulator/docs/reference/` that are made from the code."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path

import simulator
from contracts.generator import assumptions
from contracts.generator.reference import commands, control, errors, faults, rules, scenarios, settings, webhooks

DIRECTORY = Path(simulator.__file__).parent / "docs"

MADE = "<!-- Made from the code by `python -m contracts.generator write`; do not edit. -->\n\n"


def pages() -> Mapping[str, bytes]:
    """Every such page by its path below `simulator/docs/`."""
    made = {
        "reference/control": control.page(),
        "reference/commands": commands.page(),
        "reference/settings": settings.page(),
        "reference/faults": faults.page(),
        "reference/scenarios": scenarios.page(),
        "reference/actions": control.actions_page(),
        "reference/webhooks": webhooks.page(),
        "reference/verifiers": webhooks.verifiers(),
        "reference/errors": errors.page(),
        "reference/rules": rules.page(),
        "reference/assumptions": assumptions.docs_page(),
    }
    return {f"{path}.md": (MADE + text).encode() for path, text in made.items()}


def differences(wanted: Mapping[str, bytes]) -> list[str]:
    """The pages that are missing or differ, each with its first line that differs."""
    found = []
    for name, text in wanted.items():
        file = DIRECTORY / name
        had = file.read_bytes() if file.is_file() else b""
        if had != text:
            lines = zip_longest(had.splitlines(), text.splitlines(), fillvalue=b"")
            found.append(next((f"differs: {name}: {old!r} is now {new!r}" for old, new in lines if old != new), name))
    return found


def write() -> list[str]:
    """Bring the pages up to date; returns those that were not."""
    wanted = pages()
    changed = differences(wanted)
    for name, text in wanted.items():
        (DIRECTORY / name).write_bytes(text)
    return changed
