"""The contract as a running simulator serves it: the documents, and a page for people."""

from __future__ import annotations

import asyncio
from functools import cache

from simulator.contract import npm
from simulator.contract.files import STRICT, contract_document, contract_file
from simulator.contract.own import own_page
from simulator.docs import llms
from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import ControlOperation, Handler, Raw, any_text
from simulator.engine.control.pages import HTML, HtmlPage, apart, here, page_rows
from simulator.engine.text.json import JsonObject, loads

YAML = "application/yaml; charset=utf-8"


async def openapi_yaml(call: ControlCall) -> Raw[str]:
    """The contract of the simulated interface, with the address and the keys of this server."""
    return Raw(here(call, contract_file("openapi.yaml")))


async def openapi_strict_yaml(call: ControlCall) -> Raw[str]:
    """The same contract with everything narrowed that is known, for fuzzers and judges."""
    return Raw(here(call, contract_file(STRICT)))


async def openapi_specified_yaml(call: ControlCall) -> Raw[str]:
    """The same contract without anything that is assumed: what the service has promised."""
    return Raw(here(call, contract_file("openapi.specified.yaml")))


async def openapi_json(call: ControlCall) -> Raw[JsonObject]:
    """The contract of the simulated interface as JSON, with the address and the keys of this server."""
    return Raw(here(call, contract_file("openapi.json")))


async def webhook_vectors(call: ControlCall) -> Raw[JsonObject]:
    """Signed and forged webhook requests, each with the verdict that a verifier has to give."""
    return Raw(contract_file("webhook-vectors.json"))


async def control_yaml(call: ControlCall) -> Raw[str]:
    """The contract of the control interface: this document."""
    return Raw(here(call, contract_file("control.yaml")))


async def control_json(call: ControlCall) -> Raw[JsonObject]:
    """The contract of the control interface as JSON, for pages that make forms of it."""
    return Raw(here(call, contract_file("control.json")))


async def reference_page(call: ControlCall) -> Raw[str]:
    """The contract of the simulated interface as a page to read.

    Its samples name the address it is served from and the keys of a world: the one of the query, or of the header.
    """
    world = call.world_called(call.query.get("world") or call.world_id)
    page = await asyncio.to_thread(_page)  # the first time it takes a while, and other calls go on
    return Raw(own_page(here(call, page.html), world))


@cache
def _page() -> HtmlPage:
    from simulator.contract.rendering import page

    evidence: JsonObject = loads(contract_file("reference.json"))
    return apart(page(contract_document(), evidence), "reference")


CONTRACT_ROWS: tuple[ControlOperation, ...] = (
    ControlOperation(
        "GET",
        "/openapi.yaml",
        "openapi_yaml",
        "Contract",
        "The contract of the interface",
        openapi_yaml,
        media_type=YAML,
        shows_keys=True,
    ),
    ControlOperation(
        "GET", "/openapi.json", "openapi_json", "Contract", "The same as JSON", openapi_json, shows_keys=True
    ),
    ControlOperation(
        "GET",
        "/openapi.strict.yaml",
        "openapi_strict_yaml",
        "Contract",
        "The same, closed and narrow, for judges and fuzzers",
        openapi_strict_yaml,
        media_type=YAML,
        shows_keys=True,
    ),
    ControlOperation(
        "GET",
        "/openapi.specified.yaml",
        "openapi_specified_yaml",
        "Contract",
        "What of it the specification promises",
        openapi_specified_yaml,
        media_type=YAML,
        shows_keys=True,
    ),
    ControlOperation(
        "GET",
        "/webhook-vectors.json",
        "webhook_vectors",
        "Contract",
        "Signed and forged webhook requests, for verifiers",
        webhook_vectors,
        shows_keys=True,
    ),
    ControlOperation(
        "GET",
        "/control.yaml",
        "control_yaml",
        "Contract",
        "The contract of the control interface",
        control_yaml,
        media_type=YAML,
        shows_keys=True,
    ),
    ControlOperation(
        "GET", "/control.json", "control_json", "Contract", "The same as JSON", control_json, shows_keys=True
    ),
    ControlOperation(
        "GET",
        "/reference.html",
        "reference_page",
        "Contract",
        "The contract as a page for people",
        reference_page,
        query={"world": any_text("The world whose keys the samples bear, by its id.")},
        media_type=HTML,
        shows_keys=True,
    ),
)


async def llms_txt(call: ControlCall) -> Raw[str]:
    """What a language model reads first: what this is, keys, test values, calls, pages."""
    return Raw(here(call, contract_file("llms.txt")))


async def llms_full_txt(call: ControlCall) -> Raw[str]:
    """The same with the text of every page."""
    return Raw(here(call, await asyncio.to_thread(_every_page)))


@cache
def _every_page() -> bytes:
    return llms.full(contract_file("llms.txt").decode()).encode()


async def collection_json(call: ControlCall) -> Raw[JsonObject]:
    """Every operation once, as a Postman collection that runs against this server."""
    return Raw(here(call, contract_file("collection/every-operation.postman_collection.json")))


async def flows_arazzo_yaml(call: ControlCall) -> Raw[str]:
    """Each way of moving money as Arazzo workflows that run against this server."""
    return Raw(here(call, contract_file("flows.arazzo.yaml")))


async def rampsim_client_tgz(call: ControlCall) -> Raw[str]:
    """The client for TypeScript, with its fixtures for Vitest: `npm install --save-dev` takes this address."""
    return Raw(await asyncio.to_thread(npm.packed_client))


def _text_row(name: str, summary: str, handler: Handler) -> ControlOperation:
    return ControlOperation(
        "GET",
        f"/{name}.txt",
        f"{name.replace('-', '_')}_txt",
        "Contract",
        summary,
        handler,
        open=True,
        media_type="text/plain; charset=utf-8",
        shows_keys=True,
    )


PAGE_ROWS = (
    *page_rows("reference", _page),
    _text_row("llms", "What a language model reads first", llms_txt),
    _text_row("llms-full", "The same with every page of the documentation", llms_full_txt),
    ControlOperation("GET", "/collection.json", "collection_json", "Contract", "A Postman collection", collection_json),
    ControlOperation(
        "GET",
        "/flows.arazzo.yaml",
        "flows_arazzo_yaml",
        "Contract",
        "Arazzo workflows",
        flows_arazzo_yaml,
        media_type=YAML,
    ),
    ControlOperation(
        "GET",
        "/rampsim-client.tgz",
        "rampsim_client_tgz",
        "Contract",
        "The client for TypeScript, as npm installs it",
        rampsim_client_tgz,
        open=True,
        media_type="application/gzip",
    ),
)
"""What the page for people needs, and what tools take home; no part of the contract."""
