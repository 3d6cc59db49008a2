"""What a run against the control interface changes of schemathesis, which loads this module by its configuration.

The documents that the control interface serves in YAML are long, and of what is in them its contract says nothing. To
read each of them again at every answer took three quarters of the run.
"""

from __future__ import annotations

from typing import Any

import schemathesis

# The first that is registered of a family counts, so all names are taken.
_YAML = ("text/yaml", "text/x-yaml", "application/x-yaml", "text/vnd.yaml", "application/yaml")


@schemathesis.deserializer(*_YAML)
def unread(context: Any, response: Any) -> None:
    """Nothing of a document in YAML is looked at."""
