"""Escapes control characters and characters that change the text direction. In untrusted strings, such as headers or
inbox bodies, they could change the window title, the clipboard or other lines of a terminal or CI log.
"""

from __future__ import annotations

import re

from simulator.kernel.patterns import compile_late

STEERING = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufff9-\ufffb"
)
"""The characters to escape: C0 except tab and newline, DEL, C1, bidirectional controls and lone surrogates."""

_STEERING = compile_late(f"[{STEERING}]")


def plain(text: str) -> str:
    r"""Return a string that is safe for a terminal. Control characters are escaped as `\u001b`.

    JSON stays valid, because these characters occur only inside JSON strings, where `\u001b` has the same meaning.
    """
    return text if text.isascii() and text.isprintable() else _STEERING.sub(escaped, text)


def plain_line(text: str) -> str:
    r"""Like `plain`, but escape newlines, too. Otherwise, a string could imitate other lines of output."""
    return plain(text).replace("\n", "\\n")


def escaped(character: re.Match[str]) -> str:
    """Return the escape sequence for a character below U+10000."""
    return f"\\u{ord(character[0]):04x}"
