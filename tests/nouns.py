"""Finds nouns of the ramp in code that must not know the ramp. `python -m tests.nouns [PATH]` prints the lines.

Only names and literals are checked, not comments and docstrings. A name is split into words: `create_quote`,
`CreateQuote` and `/v1/quotes` all contain the noun `quote`, but `rampsim` does not contain `ramp`.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from simulator.providers.ramp.reference import ASSET_CODES, FIATS, NETWORKS
from tests.measures import nodes_of, sources, text_of
from tests.places import ROOT

NOUNS = frozenset(
    {
        *("quote", "ramp", "onramp", "offramp", "payout", "swap", "fee", "deposit", "recurring"),
        *("beneficiary", "beneficiaries", "wallet", "lightning", "invoice", "bank", "mobile"),
        *("kyc", "fiat", "crypto", "stablecoin", "sandbox", "production"),
        *(code.lower() for code in (*FIATS, *ASSET_CODES, *NETWORKS)),
    }
)
"""In lower case; a plural counts too. `mobile` is that of `mobile_money`."""

_OTHER_SENSES = re.compile(r"(in|without) quotes", re.IGNORECASE)
"""Phrases whose words mean something else: `quotes` are quotation marks here."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@dataclass(frozen=True)
class Found:
    """A line with nouns: `path` from the top of the checkout, `nouns` as the list above spells them."""

    path: str
    line: int
    nouns: frozenset[str]


def words(text: str) -> Iterator[str]:
    """The nouns among the words of a name or literal."""
    for word in _WORD.findall(_OTHER_SENSES.sub("", text)):
        lower = word.lower()
        if lower in NOUNS:
            yield lower
        elif lower.removesuffix("s") in NOUNS:
            yield lower.removesuffix("s")


def found_in(path: Path) -> list[Found]:
    """The lines of a module with nouns in code, in order."""
    prose, others = _docstring_lines(path), _names_from_outside(path)
    called = re.compile(rf"\b({'|'.join(others) or '-'})\(")  # in the braces of a string
    by_line: dict[int, set[str]] = {}
    for token in tokenize.generate_tokens(io.StringIO(text_of(path)).readline):
        if token.type in (tokenize.NAME, tokenize.STRING) and token.string not in others:
            for line, text in enumerate(called.sub("(", token.string).split("\n"), token.start[0]):
                if line not in prose:
                    by_line.setdefault(line, set()).update(words(text))
    name = path.relative_to(ROOT).as_posix()
    return [Found(name, line, frozenset(nouns)) for line, nouns in by_line.items() if nouns]


def _names_from_outside(path: Path) -> set[str]:
    """Names that a module has from other packages: `quote` of `urllib.parse`, or as in `shlex.quote`."""
    imports = [node for node in nodes_of(path, ast.ImportFrom) if not (node.module or "").startswith("simulator")]
    modules = {alias.name for node in nodes_of(path, ast.Import) for alias in node.names}
    attributes = (node for node in nodes_of(path, ast.Attribute) if isinstance(node.value, ast.Name))
    return {
        *(alias.name for node in imports for alias in node.names),
        *(node.attr for node in attributes if isinstance(node.value, ast.Name) and node.value.id in modules),
    }


def _docstring_lines(path: Path) -> set[int]:
    """The lines of strings that are statements: docstrings, also those below a field or constant."""
    strings = (
        node.value
        for node in nodes_of(path, ast.Expr)
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )
    return {line for node in strings for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def found_below(*folders: str) -> list[Found]:
    """All lines with nouns of the modules below folders of the checkout."""
    return [
        line for path in sources() if path.relative_to(ROOT).as_posix().startswith(folders) for line in found_in(path)
    ]


def paths_in(path: Path, paths: Iterable[str]) -> list[str]:
    """Return `PATH:LINE` for each literal in a module that contains one of the API paths. Docstrings do not count."""
    wanted = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, paths))})(?![\w-])")
    prose, name = _docstring_lines(path), path.relative_to(ROOT).as_posix()
    literals = [node for node in nodes_of(path, ast.Constant) if isinstance(node.value, str)]
    lines = {one.lineno for one in literals if one.lineno not in prose and wanted.search(str(one.value))}
    return [f"{name}:{line}" for line in sorted(lines)]


def main() -> None:
    asked = tuple(sys.argv[1:])
    found = found_below(*(asked or ("simulator/kernel", "simulator/engine")))
    for line in found:
        text = text_of(ROOT / line.path).split("\n")[line.line - 1].strip()
        sys.stdout.write(f"{line.path}:{line.line}: {' '.join(sorted(line.nouns))}: {text}\n")
    for path, lines in Counter(line.path for line in found).most_common():
        sys.stdout.write(f"{lines:5} {path}\n")
    sys.stdout.write(f"{len(found)} lines\n")


if __name__ == "__main__":
    main()
