"""`contracts/flows.arazzo.yaml`: how calls follow one another to an end, as Arazzo workflows made from scenarios.

Steps of the control interface stand for what happens outside (time passes, somebody pays); those of the interface are
what an integrator writes.
"""

from __future__ import annotations

from typing import Any

from contracts.generator.evidence import TOUR
from contracts.generator.flows import Flow, Step, flow_of, with_places
from contracts.generator.schemas import Schema
from simulator.engine.clients.address import DEFAULT_URL
from simulator.engine.scenario.files.library import Library

FLOWS = (
    "payment-arrives",
    "payment-declined",
    "deposit-arrives",
    "payout-fails-and-refunds",
    "swap-completes",
    "buy-paid",
    "send-completes",
    "withdraw-completes",
    "recurring-run-succeeds",
    "lightning-invoice-paid",
    "lightning-address-paid",
    "webhook-endpoint-recovers",
    TOUR,
)
"""The scenarios that are written as flows: each way of moving money to its end, and the webhooks."""


def document(library: Library) -> Schema:
    """The flows as one Arazzo document."""
    return {
        "arazzo": "1.0.1",
        "info": {
            "title": "Flows of the stablecoin ramp and wallet service",
            "summary": "Calls in the order in which an integration makes them, each flow to its end.",
            "version": "1",
        },
        "sourceDescriptions": [
            {"name": "interface", "url": "openapi.yaml", "type": "openapi"},
            {"name": "control", "url": "control.yaml", "type": "openapi"},
        ],
        "workflows": [_workflow(flow_of(library[name])) for name in FLOWS],
    }


def _workflow(flow: Flow) -> Schema:
    return {
        "workflowId": flow.name,
        "summary": flow.summary,
        "inputs": {
            "type": "object",
            "properties": {"origin": {"type": "string", "default": DEFAULT_URL, "description": "The simulator."}},
        },
        "steps": [_step(step) for step in flow.steps],
    }


def _step(step: Step) -> Schema:
    source = "control" if step.control else "interface"
    shown: Schema = {
        "stepId": step.name,
        "description": f"{step.summary}.",
        "operationId": f"$sourceDescriptions.{source}.{step.operation}",
    }
    places = (("path", step.values), ("query", step.query), ("header", step.headers))
    parameters = [
        {"name": name, "in": place, "value": _expressed(value)}
        for place, values in places
        for name, value in values.items()
    ]
    if parameters:
        shown["parameters"] = parameters
    if step.body is not None:
        shown["requestBody"] = {"contentType": "application/json", "payload": _expressed(step.body)}
    shown["successCriteria"] = [
        {"condition": condition}
        for condition in (
            f"$statusCode == {step.status}",
            *(f"$response.body#/{path.replace('.', '/')} == {_literal(value)}" for path, value in step.checks.items()),
        )
    ]
    if step.used:
        shown["outputs"] = {
            _output(path): f"$response.body#/{'/'.join([*filter(None, [step.within]), *path.split('.')])}"
            for path in step.used
        }
    return shown


def _literal(value: Any) -> str:
    if isinstance(value, str):
        expressed = str(_expressed(value))
        return expressed if expressed != value else f"'{value}'"
    return str(value).lower()


def _output(path: str) -> str:
    return path.replace(".", "_")


def _expression(step: str, path: str) -> str:
    return "$inputs.origin" if step == "origin" else f"$steps.{step}.outputs.{_output(path)}"


def _expressed(value: Any) -> Any:
    """A value with the runtime expressions of Arazzo for what earlier steps answered."""
    return with_places(value, _expression, lambda step, path: f"{{{_expression(step, path)}}}")
