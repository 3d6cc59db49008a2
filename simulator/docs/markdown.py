"""Converts a page from Markdown to HTML. Headings get the same anchors as on code hosts, and links get the form that
the server uses.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from simulator.docs.library import Page
from simulator.engine.text.citations import slug
from simulator.kernel.dataclass import dataclass

_CONTRACTS = "../../contracts/"
_ANCHOR = re.compile(r'<a id="([^"]+)">')
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)


@dataclass(frozen=True)
class Heading:
    """A heading. `level` is 2 for `##`."""

    level: int
    anchor: str
    title: str


@dataclass(frozen=True)
class Passage:
    """The plain text below a heading or an anchor. The first passage on a page has no anchor."""

    anchors: tuple[str, ...]
    """All anchors of the passage. The heading's own anchor comes first."""
    heading: str
    text: str

    @property
    def anchor(self) -> str:
        return self.anchors[0] if self.anchors else ""


@dataclass(frozen=True)
class Rendered:
    """A page as HTML, with its title, headings, passages, anchors and links."""

    title: str
    html: str
    headings: tuple[Heading, ...]
    passages: tuple[Passage, ...]
    anchors: frozenset[str]
    links: tuple[str, ...]
    """The links as written in the source."""


def render(page: Page, source: str = "") -> Rendered:
    """Render a page from this package. `source` replaces the content of its file. Do not use this for user input,
    because HTML in the page is not escaped.
    """
    tokens = _without_empty_heads(_parser().parse(_COMMENT.sub("", source or page.source)))
    links = tuple(_relinked(page, tokens))
    headings = _headed(tokens)
    return Rendered(
        title=headings[0].title,
        html=_parser().renderer.render(tokens, _parser().options, {}),
        headings=tuple(headings[1:]),
        passages=tuple(_passages(tokens)),
        anchors=frozenset([*(one.anchor for one in headings), *_explicit(tokens)]),
        links=links,
    )


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    parser.add_render_rule("table_open", lambda self, *_: '<div class="wide" tabindex="0"><table>\n')
    parser.add_render_rule("table_close", lambda self, *_: "</table></div>\n")
    parser.add_render_rule("heading_close", _heading_close)
    return parser


def _heading_close(self: object, tokens: Sequence[Token], index: int, *_: object) -> str:
    tag, anchor = tokens[index].tag, tokens[index - 2].attrs.get("id")
    link = "" if tag == "h1" else f' <a class="here" href="#{anchor}" aria-label="Link to this heading">#</a>'
    return f"{link}</{tag}>\n"


def _without_empty_heads(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens without empty table headers. Markdown requires a header row, even an empty one."""
    kept: list[Token] = []
    head: list[Token] | None = None
    for token in tokens:
        if token.type == "thead_open":
            head = []
        if head is None:
            kept.append(token)
        else:
            head.append(token)
        if token.type == "thead_close" and head is not None:
            kept += head if any(one.content for one in head) else []
            head = None
    return kept


def _headed(tokens: Sequence[Token]) -> list[Heading]:
    """Return the headings, title first, and set their anchors."""
    seen: Counter[str] = Counter()
    found = []
    for token, inline in pairwise(tokens):
        if token.type == "heading_open":
            title = _text(inline)
            anchor = slug(title)
            count = seen[anchor]
            seen[anchor] += 1
            token.attrSet("id", f"{anchor}-{count}" if count else anchor)
            found.append(Heading(int(token.tag[1:]), str(token.attrs["id"]), title))
    if not found or found[0].level != 1:
        raise ValueError("a page must start with its title: `# Title`")
    return found


def _text(inline: Token) -> str:
    kept = (child for child in inline.children or () if child.type in ("text", "code_inline", "softbreak", "hardbreak"))
    return "".join(child.content if child.type in ("text", "code_inline") else " " for child in kept)


def _explicit(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield the explicit anchors in the source: `<a id="H14"></a>`."""
    for token in tokens:
        for part in [token, *(token.children or ())]:
            if part.type in ("html_inline", "html_block"):
                yield from _ANCHOR.findall(part.content)


def _passages(tokens: Sequence[Token]) -> Iterator[Passage]:
    """Yield the passages on a page, each with its heading and anchors."""
    anchors, heading = tuple[str, ...](), ""
    lines: list[str] = []
    for place, token in enumerate(tokens):
        begins: tuple[tuple[str, ...], str] | None = None
        if token.type == "heading_open":
            own = (str(token.attrs["id"]),) if token.tag != "h1" else ()
            begins = (own, _text(tokens[place + 1]))
        elif token.type == "inline" and (found := tuple(_explicit([token]))):
            begins = found, found[0]
        if begins is not None:
            if lines:
                yield Passage(anchors, heading, "\n".join(lines))
            (anchors, heading), lines = begins, []
        if token.type == "inline" and tokens[place - 1].type != "heading_open":
            lines.append(_text(token))
        elif token.type in ("fence", "code_block"):
            lines.append(token.content)
    yield Passage(anchors, heading, "\n".join(lines))


def _relinked(page: Page, tokens: Sequence[Token]) -> Iterator[str]:
    """Replace each link in the tokens with the link that the server uses. Yield the links as written in the source."""
    for token in tokens:
        for child in token.children or ():
            if child.type == "link_open":
                given = str(child.attrs["href"])
                yield given
                child.attrSet("href", served(page.path, given))


def served(path: str, link: str) -> str:
    """Return the form of a link that the server uses: the page without `.md`, or the address of a contract file."""
    target, hash_, anchor = link.partition("#")
    if not target or "://" in target or target.startswith("mailto:"):
        return link
    below = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    if below.startswith(_CONTRACTS):
        ups = "../" * (path.count("/") + 1)
        return f"{ups}{below.removeprefix(_CONTRACTS)}"
    if below.startswith("recipes/"):
        return link  # a file that is served as it is
    if target.endswith("index.md"):
        target = target.removesuffix("index.md") or "./"
    return target.removesuffix(".md") + hash_ + anchor
