"""Hooks for schemathesis in runs against the control API. Parsing long YAML responses, which the contract does not
describe, took three quarters of the run.
"""

from __future__ import annotations

from typing import Any

import schemathesis

# schemathesis uses the first deserializer for a media type, so all names are registered.
_YAML = ("text/yaml", "text/x-yaml", "application/x-yaml", "text/vnd.yaml", "application/yaml")


@schemathesis.deserializer(*_YAML)
def unread(context: Any, response: Any) -> None:
    """Return None instead of parsing a YAML response."""
