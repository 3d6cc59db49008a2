"""All files of `contracts/`, made anew from the code: the same code gives the same bytes."""

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

The interface in writing, made from the code by `make contracts`; a test fails when a file here differs from it.

| file | what it is |
| - | - |
| [openapi.yaml](openapi.yaml) | the whole interface as OpenAPI 3.1: operations, errors, webhooks, examples |
| [openapi.json](openapi.json) | the same for tools that read JSON only |
| [openapi.strict.yaml](openapi.strict.yaml) | the same, closed and narrow, for judges and fuzzers |
| [openapi.specified.yaml](openapi.specified.yaml) | what of it the specification promises, without anything assumed |
| [control.yaml](control.yaml) | the control interface of the simulator under `/_simulator` |
| [control.json](control.json) | the same for tools that read JSON only |
| [llms.txt](llms.txt) | what a language model reads first |
| [events/](events/README.md) | a page and a JSON Schema for each event: fields, an envelope, code that receives it |
| [webhooks.md](webhooks.md) | how to receive webhooks: verifiers in six languages, and `rampsim certify` |
| [webhook-vectors.json](webhook-vectors.json) | signed and forged requests as data, each with its verdict |
| [flows.arazzo.yaml](flows.arazzo.yaml) | each way of moving money, and the webhooks, as Arazzo workflows |
| [clients/typescript/](clients/typescript/README.md) | types for TypeScript, a client and fixtures for Vitest |
| [collection/](collection) | every operation once, as a Postman collection that runs as it stands |
| [CHANGELOG.md](CHANGELOG.md) | the versions of the contract, and what changed |
| [CHANGELOG.control.md](CHANGELOG.control.md) | the same of the control contract |
| [released/](released) | both contracts at each release, with digests; CI compares the present ones with the last |
| [released.yaml](released.yaml) | the newest release of the strict contract, under its old name |
| [schemathesis.toml](schemathesis.toml) | how schemathesis runs against it, with a reason for each setting |
| [scenario.schema.json](scenario.schema.json) | scenario files; editors complete and check with it |
| [scenarios.json](scenarios.json) | the scenarios that ship as the server reads them, so that it need not read YAML |
| [states/](states/README.md) | every state table as a diagram |
| [assumptions.md](assumptions.md) | every point the specification leaves open: what is assumed, why, how to find out |
| [coverage.md](coverage.md) | every operation, error, event, state and move, and the scenario that shows it |
| [reference.html](reference.html) | the interface for people, as a running simulator serves it with its keys |
| [reference.json](reference.json) | what the reference page says beside the contract: what shows each code and event |

A running simulator serves the four OpenAPI files, `control.yaml` and `control.json` below `/_simulator/`, with its own
address in `servers` (below `/_worlds/ID` with that of the world), the collection and the flows with the same address as
`/_simulator/collection.json` and `/_simulator/flows.arazzo.yaml`, and for people `/_simulator/reference.html`: every
field with its meaning, calls that work, the scenario that shows each code, in less than 300 kB (with the processor
slowed four times it is first seen after 0.35 s at 1280 pixels, and after 0.38 s at 390).

Against a simulator at its default address the collection and the flows run as they stand, as often as one likes (for
another take what it serves, or say `--env-var origin=URL`, and `--input origin=URL --server interface=URL/v1
--server control=URL`):

```bash
npx newman run contracts/collection/every-operation.postman_collection.json
npx @redocly/cli respect contracts/flows.arazzo.yaml
```

## Provenance

Every operation, field, status and error code carries `x-provenance`. `specified` is promised by the service's
specification, and `x-basis` names the clause. `assumed` is filled in by the simulator, and `x-basis` names the entry of
[assumptions.md](assumptions.md). Where a field is promised and something about it is not, `x-assumed` lists what is
guessed (`pattern`, `enum`, `required`, `nullable`, `meaning` and others) and `x-assumed-basis` the entry for each.
`x-assumptions` of an operation or event lists further entries that its behaviour rests on: an order of checks, a
formula, a rule about time. An integration that uses only what is specified depends on no guess.

## Reading it strictly

In the strict file answers are closed: a field that is not in it is a mistake. In the open one they may bring new
fields and new values (`x-extensible-enum` has those known so far). Requests are open in both: unknown fields are
ignored. The strict file says which fields of a body go together (assets with their networks, fiat currencies with their
payment methods), so that a body that fits is mostly accepted; what depends on the state (balances, limits, quotes) is
not in a schema and is answered with the declared 404, 409 and 422.
Whatever the strict file accepts the open one accepts.

Redocly's `recommended-strict` reports some 640 problems in the strict file, all of one kind: its rule for examples
closes every schema by itself, also the halves of an `allOf`. The other files pass it.

Run with nothing but its own defaults and a key pair (seed 1, 20 examples, 11,655 cases), schemathesis finds no 5xx, no
undeclared status and no answer of another shape, but 22 times that a request which fits its schema was refused: an
amount below the least, an `end_date` before the `start_date`, a name that is taken, a field that only the quote asks
for. The specification wants these refusals, and no schema can say when they come;
[schemathesis.toml](schemathesis.toml) allows them, operation by operation, with the reason.
"""


_VERSIONS = """
## Versions

[openapi.yaml](openapi.yaml) and its forms have one version, [control.yaml](control.yaml) has another: each changelog's
newest heading. A version rises only when its contract says something else (`python -m contracts.generator release`
refuses it otherwise), and a version that was released is never released again with other contents: a test holds every
file of [released/](released) to its digest (`cd contracts/released && sha256sum -c SHA256SUMS`).

Two things went wrong before this rule. `released.yaml` was written three times as 1.0.0, all on one morning. The first
contents differ from the last by 49 changes, 39 of which break clients; the second say the same as the last in all that
binds. Only the last is kept as [1.0.0](released/openapi/1.0.0.yaml). And the numbers 1.1.0 to 1.4.0 of the interface
rose for changes of the control interface, which itself stayed at version 1; the interface said the same from 1.0.0 to
1.4.0. Numbers that were shown are not taken back: the interface goes on from 1.4.0, and the control contract takes over
the numbers that counted its changes. Of the control contract no release before 1.4.0 was kept.
"""

GENERATOR = Path(__file__).resolve().parent.name
CLIENTS = "clients"
"""Written by hand, but for what `make clients` makes of them with Node."""
"""The folder of this generator, which lies among what it makes."""
ELSEWHERE = frozenset({"coverage.md", "schemathesis.toml", *(one.changelog for one in releases.CONTRACTS.values())})
"""Made by other commands, and written by hand."""


def generate(evidence: Collection[Evidence] | None = None) -> dict[str, bytes]:
    """Every file by its path below `contracts/`; `evidence`: what the scenarios showed that ship, if they were run."""
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
    """Every scenario that ships, read and judged anew, in the form that a server reads when it starts."""
    directory = shipped_directory()
    library = Loader(Simulator(library=Library()).vocabulary).load_directory(directory)
    lines = (line_of(path, library[path.stem]) for path in files_in(directory))
    return b"{\n%s\n}\n" % b",\n".join(lines)


def pretty(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _files(directory: Path) -> list[str]:
    """The files of a directory by their paths below it, in order."""
    found = (path.relative_to(directory) for path in directory.rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in found if path.parts[0] not in (GENERATOR, CLIENTS, releases.FOLDER))


def differences(directory: Path, wanted: Mapping[str, bytes]) -> list[str]:
    """What is missing, differs or does not belong in a directory that is to have these files, one line each."""
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
    """Bring a directory up to date; returns what was not."""
    wanted = generate()
    changed = differences(directory, wanted) if directory.is_dir() else []
    for name in _files(directory):
        if name not in wanted.keys() | ELSEWHERE:
            (directory / name).unlink()
    for name, content in wanted.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(content)
    return changed
