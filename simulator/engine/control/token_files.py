"""Control token files in YAML or JSON, which are read when a server starts.

tokens:
  - name: team-a
    sha256: 5e88…            # or `token`, in plain text
    worlds: team-a-          # the prefix of the ids of its worlds, or "*"
    most_worlds: 20          # the maximum number of worlds at a time; unlimited by default
"""

from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import Field, ValidationError

from simulator.engine.control.access import Access, Tokens, hash_of
from simulator.engine.text.fields import Body, in_words

LEAST_TOKEN = 16
"""The minimum length of a token. Anyone who can connect to the server could guess a shorter token."""


class BadTokens(Exception):
    """Raised for an invalid token file. The message lists the problems, one per line."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class _Token(Body, extra="forbid"):
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
    token: Annotated[str, Field(min_length=LEAST_TOKEN, pattern=r"^[!-~]+$")] | None = None
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    worlds: Annotated[str, Field(pattern=r"^(\*|[A-Za-z0-9._-]{0,47}[._-])$")]
    most_worlds: Annotated[int, Field(ge=1)] | None = None


class _TokenFile(Body, extra="forbid"):
    tokens: Annotated[list[_Token], Field(min_length=1)]


def tokens_of(token: str | None, file: Path | None) -> tuple[Tokens | None, list[str]]:
    """Return the server's tokens, or None if it has none. Also return a list of the tokens that are in plain text.
    `token` grants access to all worlds. Raise `BadTokens` if a file cannot be read or is not valid.
    """
    rows = [] if token is None else [(hash_of(token), Access("control token"))]
    known = [] if token is None else [token]
    for row in [] if file is None else _read(file):
        access = Access(row.name, "" if row.worlds == "*" else row.worlds, row.most_worlds)
        rows.append((hash_of(row.token) if row.token is not None else bytes.fromhex(row.sha256 or ""), access))
        known += [row.token] if row.token is not None else []
    if len({digest for digest, _ in rows}) < len(rows):
        raise BadTokens(["two control tokens are equal; give each name a separate token"])
    return (Tokens(rows) if rows else None), known


def _read(file: Path) -> list[_Token]:
    try:
        written: Any = yaml.safe_load(file.read_text("utf-8"))
    except OSError as error:
        raise BadTokens([f"{str(file)!r} cannot be read: {error.strerror or error}"]) from None
    # The file is not UTF-8, contains an invalid number or date, or is nested too deeply.
    except (ValueError, RecursionError, yaml.YAMLError):
        raise BadTokens([f"{file}: it must be YAML or JSON"]) from None
    try:
        rows = _TokenFile.model_validate(written).tokens
    except ValidationError as error:
        raise BadTokens([f"{file}: {_problem(detail)}" for detail in error.errors(include_input=False)]) from None
    problems = [
        f"{file}: tokens[{index}]: it must have exactly one of `token` and `sha256`"
        for index, row in enumerate(rows)
        if (row.token is None) == (row.sha256 is None)
    ]
    names = [row.name for row in rows]
    problems += [f"{file}: two tokens have the name {name!r}" for name in dict.fromkeys(names) if names.count(name) > 1]
    if problems:
        raise BadTokens(problems)
    return rows


_MEANT = {
    "worlds": "it must be '*', or a prefix of world ids that ends with a dash, dot or underscore, such as team-a-",
    "token": f"it must be at least {LEAST_TOKEN} printable characters without spaces",
    "sha256": "it must be a SHA-256 hash of 64 lower-case hexadecimal digits",
    "name": "it must be 1 to 64 letters, digits, dots, dashes and underscores",
}


def _problem(detail: Any) -> str:
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in detail["loc"]).lstrip(".")
    is_form = detail["type"] in ("string_pattern_mismatch", "string_too_short")
    meant = _MEANT.get(str(detail["loc"][-1])) if is_form else None
    return f"{path or 'the file'}: {meant or in_words(detail)}"
