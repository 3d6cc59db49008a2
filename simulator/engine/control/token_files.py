"""Files of control tokens: YAML or JSON, read when a server starts.

tokens:
  - name: team-a
    sha256: 5e88…            # or `token`, in plain text
    worlds: team-a-          # how the ids of its worlds begin, or "*"
    most_worlds: 20          # so many it may have at a time; any number without it
"""

from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import Field, ValidationError

from simulator.engine.control.access import Access, Tokens, hash_of
from simulator.engine.text.fields import Body, in_words

LEAST_TOKEN = 16
"""So many characters a token of a file has at least: it guards against others who reach the server."""


class BadTokens(Exception):
    """What is wrong with a file of tokens, one line each."""

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
    """The tokens of a server, None where it has none, and their texts as far as they are known.

    `token` is for all worlds. BadTokens for a file that cannot be read, or says what cannot be.
    """
    rows = [] if token is None else [(hash_of(token), Access("control token"))]
    known = [] if token is None else [token]
    for row in [] if file is None else _read(file):
        access = Access(row.name, "" if row.worlds == "*" else row.worlds, row.most_worlds)
        rows.append((hash_of(row.token) if row.token is not None else bytes.fromhex(row.sha256 or ""), access))
        known += [row.token] if row.token is not None else []
    if len({digest for digest, _ in rows}) < len(rows):
        raise BadTokens(["two of the control tokens are the same, so nobody can tell what it is for"])
    return (Tokens(rows) if rows else None), known


def _read(file: Path) -> list[_Token]:
    try:
        written: Any = yaml.safe_load(file.read_text("utf-8"))
    except OSError as error:
        raise BadTokens([f"{str(file)!r} cannot be read: {error.strerror or error}"]) from None
    except (ValueError, RecursionError, yaml.YAMLError):  # not UTF-8; a number or date that is none; too deep
        raise BadTokens([f"{file}: it is neither YAML nor JSON"]) from None
    try:
        rows = _TokenFile.model_validate(written).tokens
    except ValidationError as error:
        raise BadTokens([f"{file}: {_problem(detail)}" for detail in error.errors(include_input=False)]) from None
    problems = [
        f"{file}: tokens[{index}]: it has either a `token` or the `sha256` of one"
        for index, row in enumerate(rows)
        if (row.token is None) == (row.sha256 is None)
    ]
    names = [row.name for row in rows]
    problems += [f"{file}: two tokens have the name {name!r}" for name in dict.fromkeys(names) if names.count(name) > 1]
    if problems:
        raise BadTokens(problems)
    return rows


_MEANT = {
    "worlds": "it is '*' for all worlds, or how their ids begin, with a dash, dot or underscore at its end: team-a-",
    "token": f"it has at least {LEAST_TOKEN} printable characters and no blank",
    "sha256": "it is a SHA-256 as 64 small hexadecimal digits",
    "name": "it is 1 to 64 letters, digits, dots, dashes and underscores",
}


def _problem(detail: Any) -> str:
    """One finding of the model: the place in the file, and what is meant to be there."""
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in detail["loc"]).lstrip(".")
    is_form = detail["type"] in ("string_pattern_mismatch", "string_too_short")
    meant = _MEANT.get(str(detail["loc"][-1])) if is_form else None
    return f"{place or 'the file'}: {meant or in_words(detail)}"
