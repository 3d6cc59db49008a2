"""Characters that must not reach a terminal: control characters, and characters that change the direction of text.

Strings from strangers reach developers' terminals and CI logs: headers, names, bodies of inboxes, errors of a server.
Escape sequences in them could change the title, the clipboard, or the apparent content of a line.
"""

from __future__ import annotations

import re

STEERING = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufff9-\ufffb"
)
"""C0 except tab and newline, DEL, C1, bidirectional controls, and half characters, as part of a class of a pattern."""

_STEERING = re.compile(f"[{STEERING}]")


def plain(text: str) -> str:
    r"""Return a string that is safe for a terminal, with control characters escaped as `\u001b`.

    In JSON such characters occur only inside strings, where the escape means the same, so JSON stays valid.
    """
    return text if text.isascii() and text.isprintable() else _STEERING.sub(_escaped, text)


def plain_line(text: str) -> str:
    r"""Return the same on one line, newlines escaped as `\n`: a string with newlines could imitate further lines."""
    return plain(text).replace("\n", "\\n")


def _escaped(character: re.Match[str]) -> str:
    return f"\\u{ord(character[0]):04x}"
