"""`rampsim call` makes an API call. `rampsim env` prints a world's addresses and keys for a shell."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from simulator.agents import session as sessions
from simulator.cli.options import option
from simulator.cli.output import Exit, fail, read_file, say, show
from simulator.cli.remote import remote
from simulator.engine.clients.control import ControlClient, segment
from simulator.engine.text.terminal import plain_line
from simulator.kernel.world import DEFAULT_WORLD

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


@click.command()
@click.argument("method", metavar="METHOD", type=click.Choice(_METHODS, case_sensitive=False))
@click.argument("path")
@click.argument("body", required=False)
@option("-f", "--field", metavar="NAME", help="Print one field, for example id or data.0.id.")
@option("--json", "as_json", is_flag=True, help="Print the response as JSON.")
@option("--key", metavar="KEY", help="Idempotency-Key of a POST.  [default: a new key]")
@option("-H", "--header", "headers", multiple=True, metavar="NAME:VALUE", help="Additional request header; repeatable.")
@remote
def call(
    client: ControlClient, method: str, path: str, body: str | None, field: str | None, as_json: bool,
    key: str | None, headers: tuple[str, ...],
) -> None:  # fmt: skip
    """Make an API call with a token for the world.

    METHOD is GET, POST, PUT, PATCH or DELETE. PATH is relative to the base URL. BODY is JSON, @FILE, or - for standard
    input. Exits with 1 if the API refuses the call.

    \b
    rampsim call GET /profile
    rampsim call POST /quotes @quote.json --field id
    rampsim call GET "/transactions?status=completed" --json
    """
    sent = dict(map(_header, headers)) | ({} if key is None else {"Idempotency-Key": key})
    document = None if body is None else _parsed_body(body)
    if not path.startswith("/"):
        raise click.UsageError(f"PATH must start with a slash: /{path}")
    session = sessions.Session(client.url, client.token)
    try:
        reply = session.call(
            method.upper(), path, document, headers=sent, world=client.world, environment=client.environment
        )
    except sessions.ToolRefused as refused:
        fail(plain_line(f"refused ({refused.code}): {refused.message}"), code=Exit.REFUSED)
    if as_json and reply.body is not None:
        show(reply.body)
    if not as_json and reply.status < 400:
        _print(reply.body, field)
    if reply.status >= 400:
        error = reply.body.get("error", {}) if isinstance(reply.body, dict) else {}
        at = f" at `{error['param']}`" if error.get("param") else ""
        said = f"{reply.status} {error.get('code', '')}{at}: {error.get('message', reply.body)}"
        fail(plain_line(said), code=Exit.REFUSED)


def _print(body: object, field: str | None) -> None:
    if field is None:
        for name, value in _flat("", body):
            say(f"{name} = {json.dumps(value, ensure_ascii=False)}" if name else json.dumps(value))
        return
    found = body
    for part in field.split("."):
        if isinstance(found, list) and part.isdecimal() and int(part) < len(found):
            found = found[int(part)]
        elif isinstance(found, dict) and part in found:
            found = found[part]
        else:
            names = ", ".join(found) if isinstance(found, dict) else "none"
            fail(plain_line(f"the response has no field {field!r}; at {part!r} it has: {names}"), code=Exit.REFUSED)
    say(found if isinstance(found, str) else json.dumps(found, ensure_ascii=False))


def _flat(name: str, value: object) -> Iterator[tuple[str, object]]:
    """Yield each value with its path, such as `data.0.id`."""
    children = value if isinstance(value, dict) else dict(enumerate(value)) if isinstance(value, list) else {}
    if not children and (name or value is not None):
        yield name, value
    for child, one in children.items():
        yield from _flat(f"{name}.{child}" if name else str(child), one)


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise click.UsageError(f"--header: {text!r} must be NAME:VALUE")
    return name.strip(), value.strip()


def _parsed_body(text: str) -> Any:
    raw = sys.stdin.read() if text == "-" else read_file(Path(text[1:])).decode() if text.startswith("@") else text
    try:
        return json.loads(raw)
    except ValueError as error:
        raise click.UsageError(f"BODY is not JSON: {error}") from None


@click.command()
@option("--format", "form", type=click.Choice(["shell", "dotenv", "json"]), default="shell",
        help="Output format: export commands, NAME=VALUE lines, or one JSON object.")  # fmt: skip
@remote
def env(client: ControlClient, form: str) -> None:
    """Print the world's addresses and keys as environment variables.

    \b
    eval "$(rampsim env)"
    rampsim env --format dotenv >> "$GITHUB_ENV"
    """
    world = client.world or DEFAULT_WORLD
    found = client.get(f"/worlds/{segment(world)}")
    keys = found["credentials"][client.environment or next(iter(found["credentials"]))]
    own = {name: keys[name] for name in ("base_url", "public_key", "secret_key", "webhook_key")}
    values = {f"SIMULATOR_{name.upper()}": one for name, one in {"url": client.url, "world": world, **own}.items()}
    if form == "json":
        show(values)
        return
    for name, value in values.items():
        say(f"export {name}={shlex.quote(value)}" if form == "shell" else f"{name}={value}")
