"""Configures span export from the OpenTelemetry environment variables."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec

from simulator.engine.server.runtime import Runtime
from simulator.engine.server.telemetry import otlp
from simulator.version import wheel

PATIENCE_SECONDS = 2.0
"""How long a stopping server waits for the collector to accept the last spans."""
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_PROTOCOL = "http/protobuf"
_log = logging.getLogger(__name__)


@contextmanager
def exporting(
    runtime: Runtime, environ: Mapping[str, str], *, patience_seconds: float = PATIENCE_SECONDS
) -> Iterator[None]:
    """Send the spans of a server, inside the block, to the collector that the environment variables specify, if any.

    If spans cannot be sent, a warning in the log states the reason.
    """
    if not is_asked(environ):
        yield
        return
    why = _obstacle(environ)
    if why:
        _log.warning("no spans are exported: %s", why)
        yield
        return
    try:
        spans = otlp.OtlpSpans(environ)
    except Exception as error:
        _log.warning("no spans are exported: an OpenTelemetry environment variable has an invalid value (%s)", error)
        yield
        return
    runtime.trace_with(spans)
    try:
        yield
    finally:
        spans.end(patience_seconds)


def is_asked(environ: Mapping[str, str]) -> bool:
    """Return True if the environment variables specify a collector and do not turn spans off."""
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    exporters = {name.strip() for name in environ.get("OTEL_TRACES_EXPORTER", "otlp").split(",")}
    return "otlp" in exporters and any(environ.get(name) for name in _ENDPOINTS)


def _obstacle(environ: Mapping[str, str]) -> str:
    """Explain why spans cannot be sent and how to fix this, or return ""."""
    asked = next((environ[name] for name in _ENDPOINTS if environ.get(name)), "")
    protocol = next((environ[name] for name in _PROTOCOLS if environ.get(name)), _PROTOCOL)
    if protocol != _PROTOCOL:
        return f"the collector at {asked} is configured for {protocol}, and only {_PROTOCOL} is supported"
    if find_spec("opentelemetry") is None or find_spec("opentelemetry.exporter.otlp.proto.http") is None:
        return f"the exporter for the collector at {asked} is not installed: pip install '{wheel('otel')}'"
    return ""
