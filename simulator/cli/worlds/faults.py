"""`rampsim faults`: faults in calls and webhooks. The options of `add` are derived from the fault models."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple, get_args

import click

from simulator.cli.options import option
from simulator.cli.output import Fields, Row, say, show
from simulator.cli.remote import remote
from simulator.cli.tools import completing
from simulator.cli.worlds.parameters import parameters_of
from simulator.engine.clients import control as clients
from simulator.engine.faults import models, presets
from simulator.engine.text import strict


class _Member(NamedTuple):
    """A fault field as a command-line option."""

    within: str
    """The name of the nested object that contains the field, or an empty string."""
    schema: Row
    meaning: str


class _Add(click.Command):
    """A command whose options are the fields of a fault. The fields are loaded on demand."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        own = super().get_params(ctx)
        return [*own[:2], *_options(), *own[2:]]  # after the command's first two parameters, before the server options


@click.group(invoke_without_command=True)
@remote
def faults(client: clients.ControlClient) -> None:
    """Show, add or remove faults."""
    show(client.get("/faults")["data"])


@faults.command("list")
@remote
def list_faults(client: clients.ControlClient) -> None:
    """Show the active faults, including faults of scenarios.

    `hits` is the number of times that a fault was applied.
    """
    show(client.get("/faults")["data"])


@faults.command(cls=_Add)
@click.argument("preset", required=False, shell_complete=completing.presets)
@option("--webhook", metavar="EVENT", shell_complete=completing.events,
        help="Make it a webhook fault, for this event type or '*' for all.")  # fmt: skip
@remote
def add(client: clients.ControlClient, preset: str | None, webhook: str | None, **given: Any) -> None:
    """Add a fault: a PRESET, options, or both.

    Options restrict a preset. A fault applies to calls, unless --webhook or the preset makes it a webhook fault.

    \b
    rampsim faults add refused-503 --path /quotes --times 1
    rampsim faults add --method POST --path '/quotes/*/confirm' --status 422 --code quote_expired
    rampsim faults add webhook-doubled
    rampsim faults add --webhook transaction.completed --delay 10m --times 1
    """
    body: Fields = {} if preset is None else dict(_preset(preset))
    is_webhook = webhook is not None or "deliver" in body
    texts = {name: value for name, value in given.items() if value not in (None, False)}
    if not body and webhook is None and not texts:
        raise click.UsageError(
            "choose a fault: a PRESET (`rampsim faults presets` lists them), or an option such as --status"
        )
    members = _members(is_webhook)
    if (strange := next((name for name in texts if name not in members), None)) is not None:
        hint = "needs a webhook fault: add --webhook EVENT" if not is_webhook else "does not apply to webhook faults"
        raise click.UsageError(f"--{strange.replace('_', '-')} {hint}")
    schema = {"properties": {name: member.schema for name, member in members.items()}}
    for name, value in texts.items():
        if value is True or (value == "true" and {"type": "boolean"} in members[name].schema.get("anyOf", ())):
            texts[name] = None
    for name, value in parameters_of(schema, texts).items():
        within = members[name].within
        body |= {within: {**body.get(within, {}), name: value}} if within else {name: value}
    if "respond" in body:
        _refuse_half_an_answer(body["respond"])
    if is_webhook:
        event = {} if webhook in (None, "*") else {"event": webhook}
        body["webhook"] = {**event, **body.get("webhook", {})}
    else:
        body.setdefault("match", {})
    made = client.post("/faults", body)
    show(made)
    for warning in made.get("warnings", ()):
        say(f"rampsim: the fault may never apply: {warning}", err=True)


def _refuse_half_an_answer(respond: Row) -> None:
    """Exit with an error that names the missing option if `respond` has no status or no code. The server's error would
    name a JSON field instead.
    """
    if lacking := [f"--{name}" for name in ("status", "code") if name not in respond]:
        example = "--status 503 --code service_unavailable"
        raise click.UsageError(f"an error response also needs {' and '.join(lacking)}, for example {example}")


def _preset(name: str) -> Row:
    if name not in presets.PRESETS:
        meant = strict.did_you_mean(name, presets.PRESETS) or ";"
        raise click.UsageError(f"unknown preset {name!r}{meant} `rampsim faults presets` lists them")
    return presets.PRESETS[name].fault


@faults.command()
@click.argument("fault_id", metavar="ID", shell_complete=completing.fault_ids)
@remote
def remove(client: clients.ControlClient, fault_id: str) -> None:
    """Remove one fault."""
    client.delete(f"/faults/{clients.segment(fault_id)}")


@faults.command()
@remote
def clear(client: clients.ControlClient) -> None:
    """Remove all faults, including faults of scenarios."""
    client.delete("/faults")


@faults.command("presets")
def list_presets() -> None:
    """List the presets as JSON faults.

    `rampsim explore` uses the same names.
    """
    width = max(map(len, presets.PRESETS))
    for name, preset in presets.PRESETS.items():
        say(f"{name:<{width}}  {json.dumps(preset.fault)}")


def _members(is_webhook: bool) -> dict[str, _Member]:
    """Return the fields for call or webhook faults. No two nested objects have a field with the same name."""
    model: Any = models.WebhookFault if is_webhook else models.InterfaceFault
    document = model.model_json_schema()
    parts = {
        name: part
        for name, field in model.model_fields.items()
        for part in (field.annotation, *get_args(field.annotation))
        if hasattr(part, "model_fields")
    }
    found: dict[str, _Member] = {}
    for within, part in {**parts, "": model}.items():
        schemas, meanings = (document["$defs"][part.__name__] if within else document)["properties"], _meanings(part)
        for name, schema in schemas.items():
            if within or name not in parts:
                found[name] = _Member(within, schema, meanings.get(name, ""))
    return {name: member for name, member in found.items() if name != "event"}


_FAULTS = "simulator.engine.faults."


@cache
def _meanings(model: type) -> Mapping[str, str]:
    """Return the first paragraph of each field's docstring, by name."""
    found: dict[str, str] = {}
    for cls in reversed([one for one in model.__mro__ if one.__module__.startswith(_FAULTS)]):
        (defined,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
        assert isinstance(defined, ast.ClassDef)
        for node, below in zip(defined.body, defined.body[1:], strict=False):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and isinstance(below, ast.Expr):
                text = ast.literal_eval(below.value)
                found[node.target.id] = " ".join(str(text).partition("\n\n")[0].split())
    return found


@cache
def _options() -> tuple[click.Option, ...]:
    """Return an option for each field. If call and webhook faults share a field, its help contains both meanings."""
    calls, webhooks = _members(is_webhook=False), _members(is_webhook=True)
    found = []
    for name in {**calls, **webhooks}:
        both = [side[name] for side in (calls, webhooks) if name in side]
        meanings = list(dict.fromkeys(member.meaning for member in both))
        words = meanings[0] if len(meanings) == 1 else f"Calls: {meanings[0]}  Webhooks: {meanings[1]}"
        if name not in calls:
            words = f"Webhooks: {words}"
        is_flag = all(member.schema.get("type") == "boolean" for member in both)
        # A field that accepts true or a string needs no value.
        more: Fields = {"is_flag": True} if is_flag else {"metavar": "VALUE"}
        if any({"type": "boolean"} in member.schema.get("anyOf", ()) for member in both):
            more |= {"is_flag": False, "flag_value": "true", "metavar": "[VALUE]"}
        found.append(click.Option([f"--{name.replace('_', '-')}"], help=words, **more))
    return tuple(found)
