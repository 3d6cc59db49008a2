"""Under which paths the environments lie (decision H16)."""

from __future__ import annotations

BASES = {"/v1": "sandbox", "/production/v1": "production"}
"""Under which path each environment lies."""


def base_of(environment: str) -> str:
    """The path under which an environment lies."""
    return next(base for base, name in BASES.items() if name == environment)


def split_base(path: str) -> tuple[str, str]:
    """The environment of a full path ("" when it lies under no base) and the path below the base."""
    for base, environment in BASES.items():
        if path.startswith(base) and (len(path) == len(base) or path[len(base)] == "/"):
            return environment, path[len(base) :]
    return "", path
