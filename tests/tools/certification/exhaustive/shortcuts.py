"""Handlers that take one popular shortcut each."""

from __future__ import annotations

from tests.tools.certification.exhaustive.handler import Handler

HANDLERS: dict[str, type] = {"recommended": Handler}
