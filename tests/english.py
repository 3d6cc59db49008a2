"""Sentences that a machine can see are not plain English: `python -m tests.english [PATH]` prints them.

Four rules: openings of docstrings without a noun, words of the project's old dialect, sentences that are too long, and
"is no terminal" for "is not a terminal". It reads pages, docstrings and other strings of the package and of the
contract generator, and lines of YAML and JavaScript. A string is prose if it has at least four words.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.measures import nodes_of, sources, text_of
from tests.places import ROOT

MOST_WORDS = 40
"""The longest sentence of a page."""

OPENING = re.compile(
    r"(?:What|Whatever|Whoever|Whose|Whom|Who|Where|How(?! (?:many|often|long|far)\b)|As|Those|One that|One which"
    r"|That of|That which|All that|All there|Nobody|Nothing that|The one that|The same as|Also)\b"
)
"""A docstring starts with a verb or a noun phrase."""

INSTEAD: dict[str, str] = {
    r"told(?! apart)|tells of|telling(?! apart)": "described, reported, published",
    r"whoever|whomever": "the caller, the user, anyone who",
    r"anew": "again",
    r"in vain": "pointless, without effect",
    r"deadends?|dead ends?": "unreachable rules",
    r"sights": "field sets",
    r"wheres": "`where` checks",
    r"sameness": "normalisation",
    r"surprises": "mutations",
    r"(?<!com)mend(?:s|ed|ing)?": "fix",
    r"rightly": "correctly",
    r"graver|gravest|grave": "severe",
    r"unsteady": "flaky",
    r"slips? of the pen": "typo",
    r"passed over": "ignored",
    r"outside world|world outside": "third parties",
    r"by keys none|who may ask|for who\b": "name the subject",
    r"(?:clock|it) stands": "is paused, is",
    r"stands? (?:in|at|on|beside|below|above|here|there)": "is",
    r"lies? (?:in|at|on|below|above|beside|behind|within)": "is",
    r"bears|bearing": "has",
    r"of one's own|of his own|of an own": "its own",
    r"otherwise than|other than usual": "different from",
    r"likest|oftenest|for want of|therein|thereof|wherein|whereby|hitherto|henceforth": "plain words",
}
"""Words of the old dialect, with what to write instead."""

_WORDS = re.compile(rf"\b(?:{'|'.join(INSTEAD)})\b", re.IGNORECASE)
_IS_NO = re.compile(
    r"(?<!there )(?<!There )\b(?:is|are|was|were) no (?!longer|more|less|fewer|other)[a-z]", re.IGNORECASE
)
_NONE_WHERE = re.compile(r"\bNone where\b|\bwhere (?:none|nobody|nothing) (?:is|are|has)\b")

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_END = re.compile(r"(?<=[.!?:])(?:[\"')\]*_`]*)\s+(?=[A-Z`\"*\[(]|$)")
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


class Found(NamedTuple):
    """One sentence: `line` is where it or its paragraph starts, `rule` says what is wrong."""

    path: str
    line: int
    rule: str
    sentence: str


class Paragraph(NamedTuple):
    """Prose of one file. `kind` is `page`, `docstring` or `string`."""

    path: str
    line: int
    kind: str
    text: str


def judged(one: Paragraph) -> Iterator[Found]:
    """Yield the sentences of a paragraph that break a rule, each once."""
    prose = _CODE.sub("`x`", _LINK.sub(r"\1", one.text))
    for number, sentence in enumerate(filter(None, map(str.strip, _END.split(prose)))):
        shown = " ".join(sentence.split())
        if rule := _broken(shown, one.kind, is_first=number == 0):
            yield Found(one.path, one.line + _lines_before(prose, sentence), rule, shown)


def _broken(sentence: str, kind: str, is_first: bool) -> str | None:
    if kind == "docstring" and is_first and (opening := OPENING.match(sentence)):
        return f"starts with {opening[0]!r}"
    if found := _WORDS.search(sentence) or _IS_NO.search(sentence) or _NONE_WHERE.search(sentence):
        return f"{found[0]!r}"
    count = len(sentence.split())
    return f"{count} words" if kind == "page" and count > MOST_WORDS else None


def _lines_before(prose: str, sentence: str) -> int:
    return prose[: prose.index(sentence)].count("\n")


def pages() -> list[Path]:
    """Return the Markdown pages at the top and in the package, without pages that are generated from the code."""
    top = [ROOT / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md")]
    below = sorted((ROOT / "simulator").rglob("*.md"))
    return [*top, *(path for path in below if "<!-- Made from the code" not in text_of(path))]


def data_files() -> list[Path]:
    """Return the YAML and JavaScript files with text that people read."""
    package, generator = ROOT / "simulator", ROOT / "contracts/generator"
    return sorted(
        [
            *(package / "dashboard/page/js").rglob("*.js"),
            *(package / "docs").rglob("*.yaml"),
            *(package / "providers/ramp/docs").glob("*.yaml"),
            *(generator / "reference").glob("*.yaml"),
        ]
    )


def modules() -> list[Path]:
    """Return the modules of the package and of the contract generator."""
    return [*sources(), *sorted((ROOT / "contracts").rglob("*.py"))]


def page_paragraphs(path: Path) -> Iterator[Paragraph]:
    """Yield the paragraphs, list items and table cells of a page, without code and comments."""
    name = path.relative_to(ROOT).as_posix()
    text = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), path.read_text("utf-8"))
    block: list[str] = []
    start, fenced = 1, False
    for number, line in enumerate([*text.split("\n"), ""], 1):
        is_fence = line.lstrip().startswith("```")
        is_row = line.lstrip().startswith("|")
        if block and (is_fence or is_row or not line.strip() or re.match(r" *(?:[-*]|\d+\.) |#", line)):
            yield Paragraph(name, start, "page", "\n".join(block))
            block = []
        fenced ^= is_fence
        if fenced or is_fence or not line.strip():
            continue
        if is_row:
            yield from (
                Paragraph(name, number, "page", cell) for cell in re.split(r"(?<!\\)\|", line) if cell.strip(" -")
            )
        else:
            start = number if not block else start
            block.append(re.sub(r"^ *(?:[-*] |\d+\. |#+ |> )?", "", line))


def module_paragraphs(path: Path) -> Iterator[Paragraph]:
    """Yield the docstrings and other prose of a module. A string below a field or constant is a docstring."""
    name = path.relative_to(ROOT).as_posix()
    statements = {id(node.value) for node in nodes_of(path, ast.Expr)}
    inner = {id(part) for node in nodes_of(path, ast.JoinedStr) for part in node.values}
    for node in nodes_of(path, ast.Constant):
        if isinstance(node.value, str) and id(node) not in inner and _is_prose(node.value):
            yield Paragraph(name, node.lineno, "docstring" if id(node) in statements else "string", node.value)
    for joined in nodes_of(path, ast.JoinedStr):
        parts = (part.value if isinstance(part, ast.Constant) else "x" for part in joined.values)
        text = "".join(str(part) for part in parts)
        if _is_prose(text):
            yield Paragraph(name, joined.lineno, "string", text)


def data_paragraphs(path: Path) -> Iterator[Paragraph]:
    """Yield each line of a data file or script that has prose."""
    name = path.relative_to(ROOT).as_posix()
    for number, line in enumerate(text_of(path).split("\n"), 1):
        if _is_prose(line):
            yield Paragraph(name, number, "string", line)


_READERS = {".md": page_paragraphs, ".py": module_paragraphs}


def _is_prose(text: str) -> bool:
    return len(text.split()) >= 4 and " " in text.strip()


def found_below(*folders: str) -> list[Found]:
    """Return all findings in pages and modules whose path starts with one of `folders`, or in all of them."""
    paragraphs = (
        paragraph
        for path in [*pages(), *data_files(), *modules()]
        if path.relative_to(ROOT).as_posix().startswith(folders or ("",))
        for paragraph in _READERS.get(path.suffix, data_paragraphs)(path)
    )
    return [found for paragraph in paragraphs for found in judged(paragraph)]


def area(path: str) -> str:
    """Return the part of the project that a file belongs to: `engine`, `docs`, `top` for files at the top."""
    parts = path.split("/")
    if parts[0] != "simulator":
        return "contracts" if parts[0] == "contracts" else "top"
    return parts[1] if len(parts) > 2 else "top"


def main() -> None:
    found = found_below(*sys.argv[1:])
    for one in found:
        sys.stdout.write(f"{one.path}:{one.line}: {one.rule}: {one.sentence}\n")
    for name, count in sorted(Counter(area(one.path) for one in found).items()):
        sys.stdout.write(f"{count:6} {name}\n")


if __name__ == "__main__":
    main()
