"""What a terminal must not be sent: control characters, and those that turn the direction of text.

Texts that strangers chose reach a developer's terminal and the logs of CI: headers, names, bodies of inboxes, errors
of a server. Escape sequences in them could change the title, the clipboard, or what a line seems to say.
"""

from __future__ import annotations

import re

STEERING = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufff9-\ufffb"
)
"""C0 except tab and newline, DEL, C1, bidirectional controls, and half characters, as part of a class of a pattern."""

_STEERING = re.compile(f"[{STEERING}]")


def plain(text: str) -> str:
    r"""Return a string as a terminal may show it: what would steer one is escaped as `\u001b`.

    In JSON such characters occur inside strings alone, where this escape means the same, so JSON stays what it is.
    """
    return text if text.isascii() and text.isprintable() else _STEERING.sub(_escaped, text)


def plain_line(text: str) -> str:
    r"""Return the same on one line, newlines escaped as `\n`: a text with newlines could pass for further lines."""
    return plain(text).replace("\n", "\\n")


def _escaped(character: re.Match[str]) -> str:
    return f"\\u{ord(character[0]):04x}"
