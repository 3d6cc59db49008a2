"""Hooks of schemathesis for runs against the control interface.

Responses in YAML are not parsed: they are long, and the contract does not describe their content. Parsing them took
three quarters of the run.
"""

from __future__ import annotations

from typing import Any

import schemathesis

# The first deserializer of a media type counts, so all names are registered.
_YAML = ("text/yaml", "text/x-yaml", "application/x-yaml", "text/vnd.yaml", "application/yaml")


@schemathesis.deserializer(*_YAML)
def unread(context: Any, response: Any) -> None:
    """Ignore a document in YAML."""
