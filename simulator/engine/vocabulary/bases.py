"""Paths relative to the base paths of a provider's environments."""

from __future__ import annotations

from collections.abc import Mapping


def split_base(environments: Mapping[str, str], path: str) -> tuple[str, str]:
    """Return the environment of a full path ("" if no base path matches) and the path below its base path."""
    for environment, base in environments.items():
        if path.startswith(base) and (len(path) == len(base) or path[len(base)] == "/"):
            return environment, path[len(base) :]
    return "", path
