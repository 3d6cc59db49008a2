"""Locations in a checkout."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The top of the checkout."""

LAYERS = ("unit", "service", "tools", "campaigns")
"""The folders of tests, the pure one first."""
