"""Hooks for schemathesis, which loads this module through `contracts/schemathesis.toml`. The hooks apply the provider's
`RequestHooks`.

Each Idempotency-Key is used once. If every request used the example key from the contract, all requests except the
first would return 409 `idempotency_conflict` and test nothing else.
"""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import schemathesis

from simulator.service import TOOLING

_HOOKS = TOOLING.request_hooks()


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    valid = case.meta is not None and case.meta.generation.mode.is_positive
    if valid and case.headers.get("Idempotency-Key") is not None:
        case.headers["Idempotency-Key"] = str(uuid4())
    _HOOKS.before_call(case)


@schemathesis.hook
def after_call(context: Any, case: Any, response: Any) -> None:
    _HOOKS.after_call(case, response)
