"""Generate all files of `contracts/` from the code. The same code gives the same bytes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import orjson

from contracts.generator import (
    arazzo,
    assumptions,
    clients,
    collection,
    control,
    diagrams,
    event_pages,
    event_schemas,
    forms,
    mutants,
    openapi,
    reference_data,
    releases,
    scenario_schema,
    vectors,
    webhooks_page,
)
from contracts.generator.evidence import TOUR, Evidence, collect
from contracts.generator.examples import Examples
from contracts.generator.flows import flow_of
from contracts.generator.reference_page.rendering import page
from simulator.contract.files import contracts_directory
from simulator.contract.serving import CONTRACT_ROWS
from simulator.docs import llms
from simulator.engine.scenario.files.library import Library, files_in
from simulator.engine.scenario.files.loader import Loader
from simulator.engine.scenario.files.shipped import line_of, shipped_directory
from simulator.engine.text.yaml import yaml_text
from simulator.host import Simulator, control_rows, vocabulary
from simulator.providers.ramp.provider import ROOMS
from simulator.service import TOOLING

_HEAD = "# Made from the code by `python -m contracts.generator write`; do not edit.\n"

_README = """\
# Contracts

The published contract of the API, generated from the code by `make contracts`. A test fails if a file here is out of
date.

| file | content |
| - | - |
| [openapi.yaml](openapi.yaml) | the whole API as OpenAPI 3.1: operations, errors, webhooks, examples |
| [openapi.json](openapi.json) | the same for tools that read JSON only |
| [openapi.strict.yaml](openapi.strict.yaml) | the strict contract: closed, with every known restriction |
| [openapi.specified.yaml](openapi.specified.yaml) | only what is specified, without assumptions |
| [control.yaml](control.yaml) | the control interface of the simulator under `/_simulator` |
| [control.json](control.json) | the same for tools that read JSON only |
| [llms.txt](llms.txt) | an overview for language models |
| [events/](events/README.md) | a page and a JSON Schema for each event: fields, an envelope, code for a receiver |
| [webhooks.md](webhooks.md) | how to receive webhooks: verifiers in six languages, and `rampsim certify` |
| [webhook-vectors.json](webhook-vectors.json) | signed and forged requests as data, each with the expected verdict |
| [flows.arazzo.yaml](flows.arazzo.yaml) | Arazzo workflows for every flow that moves money, and for webhooks |
| [clients/typescript/](clients/typescript/README.md) | a TypeScript client with types and Vitest fixtures |
| [collection/](collection) | a runnable Postman collection with every operation once |
| [CHANGELOG.md](CHANGELOG.md) | versions of the contract, and their changes |
| [CHANGELOG.control.md](CHANGELOG.control.md) | the same for the control contract |
| [released/](released) | both contracts at each release, with digests; CI compares with the last release |
| [released.yaml](released.yaml) | the latest release of the strict contract, under its old name |
| [schemathesis.toml](schemathesis.toml) | configuration for schemathesis, with a reason for each setting |
| [scenario.schema.json](scenario.schema.json) | JSON Schema for scenario files, for completion and checks in editors |
| [scenarios.json](scenarios.json) | the included scenarios in the form that the server loads, without parsing YAML |
| [states/](states/README.md) | every state table as a diagram |
| [assumptions.md](assumptions.md) | points that the specification leaves open: assumption, reason, how to settle it |
| [coverage.md](coverage.md) | every operation, error, event, state and transition, with scenarios for it |
| [reference.html](reference.html) | the reference page of the API; a running simulator serves it with its keys |
| [reference.json](reference.json) | additional data of the reference page |

A running simulator serves these files below `/_simulator/`, with its own address in them (below `/_worlds/ID`, with the
address of that world): the four OpenAPI files, `control.yaml`, `control.json`, `collection.json` and
`flows.arazzo.yaml`. The reference page is `/_simulator/reference.html`. It has every field with its meaning, working
calls, and the scenarios for each code, in less than 300 kB. With the processor slowed four times, its first paint is
after 0.35 s at 1280 pixels and 0.38 s at 390 pixels.

The collection and the flows run repeatedly against a simulator at its default address. For another address, use the
files that it serves, or `--env-var origin=URL`, and
`--input origin=URL --server interface=URL/v1 --server control=URL`:

```bash
npx newman run contracts/collection/every-operation.postman_collection.json
npx @redocly/cli respect contracts/flows.arazzo.yaml
```

## Provenance

Every operation, field, status and error code has `x-provenance`. `specified` comes from the service's specification,
and `x-basis` names the clause. `assumed` comes from the simulator, and `x-basis` names the entry of
[assumptions.md](assumptions.md). If a field is specified but something about it is not, `x-assumed` lists the assumed
parts (`pattern`, `enum`, `required`, `nullable`, `meaning` and others) and `x-assumed-basis` the entry for each.
`x-assumptions` of an operation or event lists more entries that its behaviour depends on: an order of checks, a
formula, a rule about time. An integration that uses only what is specified depends on no assumption.

## Reading it strictly

In the strict file, responses are closed: a field that is not in it is an error. In the open file, responses may have
new fields and new values (`x-extensible-enum` lists the known ones). Requests are open in both: unknown fields are
ignored. The strict file says which fields of a body belong together (assets with their networks, fiat currencies with
their payment methods), so that a valid body is usually accepted. Rules that depend on state (balances, limits, quotes)
are not in a schema; such calls return the declared 404, 409 and 422. The open file accepts everything that the strict
file accepts.

Redocly's `recommended-strict` reports some 640 problems in the strict file, all of one kind: its rule for examples
closes every schema separately, including the parts of an `allOf`. The other files pass it.

With only its own defaults and a key pair (seed 1, 20 examples, 11,655 cases), schemathesis finds no 5xx, no undeclared
status and no response of another shape. It reports 22 refused requests that match their schema: an amount below the
minimum, an `end_date` before the `start_date`, a name that exists already, a field that only the quote requires. The
specification requires these refusals, and no schema can express them. [schemathesis.toml](schemathesis.toml) allows
them, operation by operation, with the reason.
"""


_VERSIONS = """
## Versions

[openapi.yaml](openapi.yaml) and its forms share one version; [control.yaml](control.yaml) has another. Each is the
newest heading of its changelog. A version rises only if its contract changes (`python -m contracts.generator release`
refuses it otherwise). A released version is never released again with other contents: a test compares every file of
[released/](released) with its digest (`cd contracts/released && sha256sum -c SHA256SUMS`).

Two mistakes happened before this rule. `released.yaml` was written three times as 1.0.0, all on one morning. The first
version differs from the last by 49 changes, 39 of which break clients; the second has the same meaning as the last.
Only the last is kept as [1.0.0](released/openapi/1.0.0.yaml). Also, the numbers 1.1.0 to 1.4.0 of the API contract rose
because of changes to the control contract, which itself stayed at version 1; the API contract did not change from 1.0.0
to 1.4.0. Published numbers are not reused: the API contract continues from 1.4.0, and the control contract continues
with the numbers that counted its changes. No release of the control contract before 1.4.0 was kept.
"""

GENERATOR = Path(__file__).resolve().parent.name
"""The folder of this generator, which is inside the directory that it writes."""
CLIENTS = "clients"
"""Written by hand, except files that `make clients` generates with Node."""
ELSEWHERE = frozenset({"coverage.md", "schemathesis.toml", *(one.changelog for one in releases.CONTRACTS.values())})
"""Files that are generated by other commands, or written by hand."""


def generate(evidence: Collection[Evidence] | None = None) -> dict[str, bytes]:
    """Return every file by path. `evidence` is the result of the included scenarios, if they were run already."""
    found = list(collect().values()) if evidence is None else evidence
    strict = openapi.build(Examples(found))
    document = forms.opened(strict)
    simulator = Simulator()
    actions, library = simulator.actions, simulator.library
    steering = control.build(control_rows(CONTRACT_ROWS), actions)
    shown = reference_data.build(document, found)
    components, schemas = openapi.make_components(openapi.operations()), document["components"]["schemas"]
    files: dict[str, bytes] = {
        "README.md": (_README + _VERSIONS + clients.section() + mutants.section()).encode(),
        "openapi.yaml": (_HEAD + yaml_text(document)).encode(),
        "openapi.json": pretty(document),
        "openapi.strict.yaml": (_HEAD + yaml_text(strict)).encode(),
        "openapi.specified.yaml": (_HEAD + yaml_text(forms.promised(document))).encode(),
        "released.yaml": releases.releases(contracts_directory(), releases.INTERFACE)[-1].read_bytes(),
        "reference.json": pretty(shown),
        "reference.html": page(document, shown).encode(),
        "control.yaml": (_HEAD + yaml_text(steering)).encode(),
        "control.json": pretty(steering),
        "scenario.schema.json": pretty(scenario_schema.json_schema(actions)),
        "scenarios.json": scenario_lines(),
        "assumptions.md": assumptions.page().encode(),
        "webhook-vectors.json": pretty(vectors.document()),
        "webhooks.md": webhooks_page.page().encode(),
        "llms.txt": llms.short(simulator.operations, TOOLING.test_values()).encode(),
        "flows.arazzo.yaml": (_HEAD + yaml_text(arazzo.document(library))).encode(),
        f"collection/{TOUR}.postman_collection.json": pretty(collection.document(flow_of(library[TOUR]))),
    }
    for name, event in vocabulary().events.items():
        files[f"events/{name}.schema.json"] = pretty(event_schemas.standalone(components, event, schemas))
    for name, text in event_pages.pages(components, found).items():
        files[f"events/{name}"] = text.encode()
    for name, text in diagrams.pages(ROOMS).items():
        files[f"states/{name}"] = text.encode()
    return files


def scenario_lines() -> bytes:
    """Return every included scenario, checked again, in the form that a server loads at startup."""
    loader = Loader(Simulator(library=Library()).vocabulary)
    paths = {path.stem: path for path in files_in(shipped_directory())}
    lines = (line_of(path, loader.load_shipped(path, paths)) for path in paths.values())
    return b"{\n%s\n}\n" % b",\n".join(lines)


def pretty(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _files(directory: Path) -> list[str]:
    """Return the relative paths of the files of a directory, in order."""
    found = (path.relative_to(directory) for path in directory.rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in found if path.parts[0] not in (GENERATOR, CLIENTS, releases.FOLDER))


def differences(directory: Path, wanted: Mapping[str, bytes]) -> list[str]:
    """Return missing, different and superfluous files of a directory, one line each."""
    found = set(_files(directory))
    lines = [f"missing: {name}" for name in wanted if name not in found]
    lines += [f"does not belong: {name}" for name in sorted(found - wanted.keys() - ELSEWHERE)]
    lines += [
        f"differs: {name}"
        for name, content in wanted.items()
        if name in found and (directory / name).read_bytes() != content
    ]
    return lines


def write(directory: Path) -> list[str]:
    """Update a directory. Return the differences that it had."""
    wanted = generate()
    changed = differences(directory, wanted) if directory.is_dir() else []
    for name in _files(directory):
        if name not in wanted.keys() | ELSEWHERE:
            (directory / name).unlink()
    for name, content in wanted.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(content)
    return changed
