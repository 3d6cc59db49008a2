"""The contract in a running simulator: OpenAPI documents, the reference page, and the TypeScript client."""

from __future__ import annotations

import asyncio
import html
import io
import json
import re
from collections.abc import Mapping
from functools import cache

from simulator.contract.files import STRICT, contract_file, contracts_directory
from simulator.docs import llms
from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import ControlOperation, Raw, any_text, calls_under
from simulator.engine.control.pages import HTML, HtmlPage, apart, here, page_rows
from simulator.engine.control.worlds.world_object import observed_by
from simulator.engine.rows.service import signing_of
from simulator.engine.text.json import JsonObject, loads
from simulator.engine.vocabulary.vocabulary import identity_of
from simulator.engine.webhooks import webhook_key
from simulator.engine.worlds.alternatives import Observation, Switch
from simulator.engine.worlds.observations import observations
from simulator.engine.worlds.settings import all_settings
from simulator.kernel.world import DEFAULT_WORLD, World

YAML = "application/yaml; charset=utf-8"
TEXT = "text/plain; charset=utf-8"

operation = calls_under("Contract")


def _document(file: str, name: str, summary: str, means: str) -> ControlOperation:
    """Return the control operation that serves a contract file. The served file contains this server's address."""

    async def text(call: ControlCall) -> Raw[str]:
        return Raw(here(call, _own(call, file)))

    async def values(call: ControlCall) -> Raw[JsonObject]:
        return Raw(here(call, _own(call, file)))

    is_json = file.endswith(".json")
    handler, media_type = (values, "application/json") if is_json else (text, YAML)
    handler.__doc__ = means
    return ControlOperation(
        "GET", f"/{file}", name, "Contract", summary, handler, media_type=media_type, shows_keys=True
    )


def _own(call: ControlCall, file: str) -> bytes:
    """Return a contract file. In OpenAPI documents, mark the parts that depend on observations of the real service."""
    content, files = contract_file(file), observed_by(call.simulator, call.world)
    if not files or not file.startswith("openapi"):
        return content
    chosen = all_settings(call.world)["assumptions"]
    switches = call.simulator.provider.alternatives()
    notes = {
        identifier: _note(switches[identifier], seen)
        for identifier, seen in observations(files).items()
        if seen.alternative == chosen.get(identifier)
    }
    return with_observed(content, notes)


def _note(switch: Switch, seen: Observation) -> str:
    """Return the note on a part of the contract. Its text describes the assumed behaviour."""
    if seen.alternative is None:
        return f"as assumed, {seen.date}"
    changes = switch.alternatives[seen.alternative]
    return f"The service differs from the contract: {changes} ({seen.alternative}, {seen.date})"


@operation(
    "GET /reference.html",
    "The contract as a reference page",
    query={"world": any_text("The id of the world whose keys the samples use.")},
    media_type=HTML,
    shows_keys=True,
)
async def reference_page(call: ControlCall) -> Raw[str]:
    """The contract of the simulated API as a page.

    Its samples contain the address of this server and the keys of a world. The query or the header selects the world.
    """
    world = call.world_called(call.query.get("world") or call.world_id)
    return Raw(own_page(here(call, _page().html), world))


@cache
def _page() -> HtmlPage:
    return apart(contract_file("reference.html").decode(), "reference")


CONTRACT_ROWS: tuple[ControlOperation, ...] = (
    _document("openapi.yaml", "openapi_yaml", "The contract of the API",
              "The contract of the simulated API, with the address and the keys of this server."),
    _document("openapi.json", "openapi_json", "The same as JSON",
              "The contract of the simulated API as JSON, with the address and the keys of this server."),
    _document(STRICT, "openapi_strict_yaml", "The strict contract, for validators and fuzzers",
              "The same contract with closed shapes and every known restriction, for validators and fuzzers."),
    _document("openapi.specified.yaml", "openapi_specified_yaml", "The specified part of the contract",
              "The same contract without assumptions: only what is specified."),
    _document("webhook-vectors.json", "webhook_vectors", "Signed and forged webhook requests, for verifiers",
              "Signed and forged webhook requests, each with the expected verdict."),
    _document("control.yaml", "control_yaml", "The contract of the control interface",
              "The contract of the control interface: this document."),
    _document("control.json", "control_json", "The same as JSON",
              "The contract of the control interface as JSON, for example to generate forms."),
    *operation.rows,
)  # fmt: skip

for_tools = calls_under("Contract")


@for_tools("GET /llms.txt", "Overview for language models", open=True, media_type=TEXT, shows_keys=True)
async def llms_txt(call: ControlCall) -> Raw[str]:
    """An overview for language models: summary, keys, test values, calls, pages."""
    return Raw(here(call, contract_file("llms.txt")))


@for_tools(
    "GET /llms-full.txt", "Overview with every page of the documentation", open=True, media_type=TEXT, shows_keys=True
)
async def llms_full_txt(call: ControlCall) -> Raw[str]:
    """The overview with the full text of every page."""
    return Raw(here(call, await asyncio.to_thread(_every_page)))


@cache
def _every_page() -> bytes:
    return llms.full(contract_file("llms.txt").decode()).encode()


@for_tools("GET /collection.json", "A Postman collection")
async def collection_json(call: ControlCall) -> Raw[JsonObject]:
    """A Postman collection that contains every operation once and runs against this server."""
    return Raw(here(call, contract_file("collection/every-operation.postman_collection.json")))


@for_tools("GET /flows.arazzo.yaml", "Arazzo workflows", media_type=YAML)
async def flows_arazzo_yaml(call: ControlCall) -> Raw[str]:
    """Arazzo workflows for every flow that moves money. They run against this server."""
    return Raw(here(call, contract_file("flows.arazzo.yaml")))


@for_tools(
    "GET /rampsim-client.tgz", "The TypeScript client as an npm package", open=True, media_type="application/gzip"
)
async def rampsim_client_tgz(call: ControlCall) -> Raw[str]:
    """The TypeScript client with Vitest fixtures. Install it from this address with `npm install --save-dev`."""
    return Raw(await asyncio.to_thread(packed_client))


@cache
def packed_client() -> bytes:
    """Return the client's npm package. The bytes are the same every time."""
    import gzip
    import tarfile

    directory = contracts_directory() / "clients" / "typescript"
    package: JsonObject = loads((directory / "package.json").read_bytes())
    named = [directory / "package.json", *(directory / name for name in package["files"])]
    files = [path for one in named for path in (sorted(one.iterdir()) if one.is_dir() else [one])]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path in files:
            entry = tarfile.TarInfo(f"package/{path.relative_to(directory).as_posix()}")
            entry.size = path.stat().st_size
            with path.open("rb") as content:
                archive.addfile(entry, content)
    return gzip.compress(packed.getvalue(), mtime=0)


SIGNATURE = "@signature@"
WORLD_HEADER = "@world@"
_ENVELOPE = re.compile(rf'data-t=(\d+) data-s="{SIGNATURE}">([^<]*)<'.encode())


def own_page(page: bytes, world: World) -> bytes:
    """Return the reference page with the keys for the world's first environment, and its id in control requests."""
    environment = world.environments[0]
    pair, key = identity_of(world).credentials(world)[environment], webhook_key(world, environment)
    for usual, own in (("pk", pair["public_key"]), ("sk", pair["secret_key"]), ("whk", key)):
        page = page.replace(f"{usual}_test_simulator".encode(), own.encode())
    signature = signing_of(world).signature
    header = f" -H 'X-Simulator-World: {world.id}'" if world.id != DEFAULT_WORLD else ""

    def signed(found: re.Match[bytes]) -> bytes:
        raw = html.unescape(found[2].decode()).encode()
        return found[0].replace(SIGNATURE.encode(), signature.sign(key, found[1].decode(), raw).encode())

    return _ENVELOPE.sub(signed, page).replace(WORLD_HEADER.encode(), header.encode())


PAGE_ROWS = (*page_rows("reference", _page), *for_tools.rows)
"""Requests that the reference page and tools need. They are not part of the contract."""


_KEY = re.compile(rb'^( *)(- )?"?(?P<key>x-provenance|x-basis)?"?(: "?(?P<value>[A-Za-z0-9-]+))?')


def with_observed(document: bytes, observed: Mapping[str, str]) -> bytes:
    """Return a contract in which parts that depend on observed assumptions are marked `observed`, not `assumed`.

    `document` is YAML or JSON with each key on its own line. `observed` maps ids of assumptions to notes. Marked parts
    get the note as `x-observed`.
    """
    lines = document.split(b"\n")
    assumed: dict[int, int] = {}
    """The line numbers of `x-provenance: assumed` in the enclosing mappings, by indentation."""
    bases: dict[int, str] = {}
    for number, line in enumerate(lines):
        found = _KEY.match(line)
        if found is None or not line.strip():
            continue
        indent = len(found[1]) + len(found[2] or b"")
        for other in [one for one in (*assumed, *bases) if one > indent or (one == indent and found[2])]:
            assumed.pop(other, None)
            bases.pop(other, None)
        if found["key"] == b"x-provenance" and found["value"] == b"assumed":
            assumed[indent] = number
        elif found["key"] == b"x-basis" and found["value"]:
            bases[indent] = found["value"].decode()
        if indent in assumed and bases.get(indent) in observed:
            at = assumed.pop(indent)
            lines[at] = _marked(lines[at], observed[bases[indent]])
    return b"\n".join(lines)


def _marked(line: bytes, note: str) -> bytes:
    """Return a line with the note, followed by the given line with `observed` in place of `assumed`."""
    mark = b'"' if line.lstrip(b" -").startswith(b'"') else b""
    beginning = line[: line.index(b"x-provenance") - len(mark)]
    said = beginning + mark + b"x-observed" + mark + b": " + json.dumps(note).encode() + (b"," if mark else b"")
    rest = b" " * len(beginning) + line[len(beginning) :]
    return said + b"\n" + rest.replace(b"assumed", b"observed", 1)
