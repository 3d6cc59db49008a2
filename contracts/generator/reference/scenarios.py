"""`reference/scenarios.md`: the language of scenario files, every field of it, and every name that a `where` knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from contracts.generator import scenario_schema
from contracts.generator.texts import explained
from simulator.engine.scenario.files.library import Library
from simulator.engine.scenario.language import field_sets
from simulator.engine.scenario.language.field_sets import FieldSet
from simulator.engine.webhooks import shapes
from simulator.host import Simulator, vocabulary

_FEW = 14
"""So many words of a field are listed."""

_HEAD = """\
# Scenario files

A scenario is weather: what the outside world does, and when. It is a YAML (or JSON) file that reads aloud. Write the
first one with [Write a scenario](../how-to/scenarios.md); this page has every field and every name.

- `rampsim scenario validate FILE` finds every mistake with line and column; `--strict` refuses warnings, too.
- `rampsim scenario run FILE` plays the file's own `drive` and shows calls, events, webhook attempts and hits of faults.
- Editors complete and check by `contracts/scenario.schema.json`: begin the file with
  `# yaml-language-server: $schema=…/scenario.schema.json`.
- It is YAML 1.2: `on` is a word, `12:30` is text. Text with `${…}` stands in quotes inside `{ }` and `[ ]`.
- A duration is `500ms`, `20s`, `2h30m`, `3d`, an ISO 8601 duration up to days, or seconds as a number.
"""

_EVALUATION = """\
## Rules of evaluation

1. When an event is emitted, the active scenarios are looked at from the last named to the first: **later ones win**.
   In each the rules are looked at from top to bottom. The first rule that matches takes the event; no other sees it.
2. A rule matches when all of its `where` holds, `times` is not used up, and chance agrees (`probability`). A rule that
   chance passes over is not counted, and the next one is looked at.
3. Its steps are planned at once, one after another: `after` counts from the step before, the first one from the event.
   They are timers of the world: `GET /_simulator/timers` lists them, a snapshot keeps them, and they go when the
   scenario is taken out of the active ones.
4. A step whose action is not possible when its time comes (somebody was faster) is **skipped** and told of; it is no
   error. One that breaks is undone, and when it breaks again at once the scenario is stopped.
5. What is random (`probability`, `between`) is drawn from the world's seed, from a stream of the scenario's own: the
   same seed and calls give the same again, whatever other scenarios draw.
6. **Slowdown is measured twice**: a step is stretched when it is planned, by how the object's network stands then; when
   the network changes, what is left of the delay is measured anew. While it is down, steps that need it wait.
7. An object that was handed over (`scenario:` in a step), or that a request gave to a scenario
   (`X-Simulator-Scenario`), belongs to that one alone; the active ones pass it over.
8. A scenario's faults are in force while it is active.
"""

_ON = """\
## on

An event of the [catalogue](webhooks.md), or a list of them, and two more words:

- `created`: something was made of whose making no event tells: {silent}. The object is the new resource.
- `request`: a call is about to be dealt with, after all checks of its form. Such a rule has an `answer` in place of
  steps. It looks at `method` and `path` (a glob on the path below the base), and at what the call carries (`body.…`).

```yaml
name: no-swaps-today
description: Swaps fail, and confirming a quote with the reference `declined` is refused.
rules:
  - on: created
    where: {{type: swap, status: pending}}
    do:
      - {{after: 2s, action: fail}}
  - on: request
    where: {{method: POST, path: "/quotes/*/confirm", body.reference: declined}}
    answer: {{code: payment_failed}}
```
"""

_WHERE = """\
## where

Every entry is a dotted path and what must hold of the value there. All entries must hold. Numbers in a path are places
in a list: `required_actions.0.code`.

| written | holds when the value is |
| - | - |
| `{type: onramp}` | equal. A number fits an amount that is written as text: `5` fits `"5.00"` |
| `{type: [onramp, buy]}` | any of the list |
| `{tx_hash: null}` | null, or not there |
| `{source_amount: {gte: 100, lt: 1000}}` | all of the tests that are named |
"""

_BESIDE = """\
Besides the object itself a rule sees:

| begins with | is |
| - | - |
| `request.` or `body.` | what the request carried that made the object, or what it belongs to |
| `beneficiary.` | the beneficiary that the object, its request or its quote names |
| `quote.` | the quote that it was made from |

In a rule `on: request` these are about that call.

A named group of `matches` serves in the rule's steps as `${name}`:

```yaml
name: ending-by-reference
description: A reference of `ends:NAME` hands the object to the scenario NAME.
rules:
  - on: [transaction.awaiting_payment, transaction.awaiting_deposit]
    where:
      request.reference: {matches: "^ends:(?P<name>.+)$", names_scenario: true}
    do:
      - {scenario: "${name}"}
  - on: transaction.awaiting_payment
    where: {request.payer.phone_number: {ends_with: "0001"}, quote.method: mobile_money}
    do:
      - {after: {between: [5s, 20s]}, action: payment_declined}
```
"""

_PARTS: tuple[tuple[str, str, str, str], ...] = (
    (
        "timeline",
        "TimelineStep",
        "What happens at fixed times after the scenario became active, whatever else does.",
        """\
name: celo-goes-down
description: Celo is down for a quarter of an hour, and what needs it waits.
timeline:
  - {at: 10m, action: set_network, network: celo, status: down}
  - {at: 25m, action: set_network, network: celo, status: operational}
slowdown: {degraded: 5}
""",
    ),
    (
        "world",
        "WorldState",
        "State that is laid down when the scenario becomes active. Each entry is one action with its parameters, and "
        "may have an `environment`. When one of them is refused, the scenario does not become active.",
        """\
name: rich-and-pinned
description: The account is rich, and a dollar costs 129.40 shillings.
world:
  rates: [{asset: USDC, fiat_currency: KES, rate: "129.40"}]
  balances: [{symbol: USDC, network: STELLAR, amount: "250000"}]
""",
    ),
    (
        "faults",
        "Fault",
        "What goes wrong on the wire while the scenario is active; [Faults](faults.md) shows each member.",
        """\
name: first-quote-fails
description: The first quote of each minute is not to be had, and events come twice.
faults:
  - {match: {method: POST, path: /quotes}, times: 1, respond: {status: 503, code: service_unavailable, retry_after: 2}}
  - {webhook: {event: transaction.completed}, deliver: {copies: 2}}
""",
    ),
)

_DRIVE = """\
## drive

What an integrator would do, for `rampsim scenario run`; a world in which the scenario is merely active ignores it.
A step is one of:

- `advance: 10m`: move the simulated clock.
- `action: NAME` with `target` and parameters: what the outside world does at this point.
- `receiver: {respond: [500, 200]}`: what the run's own webhook receiver answers from now on.
- a call: one of `get`, `post`, `put`, `patch`, `delete`. It must answer 2xx, or the `status` and `code` that
  stand there. A path of the control interface (`/_simulator/…`) is called in the world of the run.

A step with a name (`quote: {post: /quotes, …}`) gives its answer to later ones: `${quote.id}`. `${world.…}` is the
world of the run, `${receiver.id}` its webhook endpoint.

"""

_EXPECT = """\
## expect

What must be true when the drive has ended and every webhook is settled. What is not met says what was there instead.

"""

_WHOLE = """\
name: payout-rejected
description: The bank refuses the payout; the deposit goes back to the refund address.
rules:
  - on: transaction.awaiting_deposit
    where: {type: offramp, fiat_currency: KES}
    times: 1
    do:
      - {after: 20s, action: deposit_arrives}
      - {after: 45s, action: fail, failure_code: payout_failed}
      - {after: 2m, action: refund}
drive:
  - receiver: {respond: [500, 200]}
  - beneficiary:
      post: /beneficiaries
      body: {type: phone_number, name: Wanjiru Otieno, country: KE, fiat_currency: KES,
        phone_number: {phone_number: "+254722000000", provider: mpesa}}
  - quote:
      post: /quotes
      body: {type: offramp, network: celo, asset: USDC, fiat_currency: KES, amount: "50", amount_currency: USDC,
        method: mobile_money}
  - transaction:
      post: "/quotes/${quote.id}/confirm"
      body: {beneficiary_id: "${beneficiary.id}", refund_address: "0x52908400098527886E0F7030069857D2E4169EE7"}
  - advance: 10m
expect:
  - {event: transaction.failed, where: {failure_code: payout_failed}, times: 1}
  - {resource: "${transaction.id}", where: {status: refunded}}
  - {answer: quote, where: {status: active}}
  - {delivery: beneficiary.created, where: {attempt: 2, status: succeeded}}
  - {webhooks: delivered}
"""

_EXPECTED = {
    "ExpectEvent": "An event was emitted",
    "ExpectResource": "A resource is as it should be",
    "ExpectAnswer": "A step was answered as it should be",
    "ExpectDelivery": "A webhook was attempted",
    "ExpectWebhooks": "All webhooks arrived",
}


def page() -> str:
    """The page as Markdown."""
    definitions = scenario_schema.json_schema(Simulator(library=Library()).actions)
    parts: Mapping[str, Any] = definitions["$defs"]
    text = [_HEAD, "## The file\n", _table(definitions), _yaml(_WHOLE), _EVALUATION]
    text += ["## rules\n", _table(parts["Rule"]), "A step of `do`:\n", _table(parts["Step"])]
    text += ["An `answer`:\n", _table(parts["AnswerInstead"])]
    text += [_ON.format(silent=", ".join(f"`{name}`" for name in _silent())), _WHERE, _table(parts["Tests"]), _BESIDE]
    for name, model, says, example in _PARTS:
        text += [f"## {name}\n\n{says}\n", _table(parts[model]), _yaml(example)]
    text += [_DRIVE, _table(parts["Call"]), "An action:\n", _table(parts["DriveAction"]), _EXPECT]
    for model, says in _EXPECTED.items():
        text += [f"{says}:\n", _table(parts[model])]
    text += ["## What where can name\n", *_kinds()]
    return "\n".join(part.strip("\n") + "\n" for part in text)


def examples() -> list[str]:
    """The scenarios of the page that are whole files of this module."""
    return [_WHOLE, *(example for *_, example in _PARTS)]


def _silent() -> list[str]:
    return [
        name
        for name in field_sets.kinds_created_silently(vocabulary())
        if field_sets.of_kind(vocabulary(), name).variants
    ]


def _yaml(text: str) -> str:
    return f"```yaml\n{text}```\n"


def _table(schema: Mapping[str, Any]) -> str:
    required = schema.get("required", ())
    lines = ["| field | meaning |", "| - | - |"]
    for name, field in schema["properties"].items():
        must = " *(must be there)*" if name in required else ""
        lines.append(f"| `{name}` | {_cell(field['description'])}{must} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _kinds() -> Iterator[str]:
    yield (
        "The fields of `data.object`, by the kind of resource. Below them stand the events that tell of it, with the\n"
        "statuses that it can have then. What is written `name[]` is a list: `name.0` is its first item.\n"
    )
    for kind in vocabulary().kinds.values():
        shape = kind.shape()
        if shape is None:
            continue
        yield f"### {kind.name}\n"
        shapes_shown = dict.fromkeys([shape, *(make() for make in kind.event_shapes.values())])
        yield _names(_together(shapes_shown))
        told = [
            (name, one.statuses) for name, group in vocabulary().subjects.items() for one in group if one.kind is kind
        ]
        events = ", ".join(f"`{name}` ({' or '.join(statuses)})" for name, statuses in told)
        made = (
            " Rules `on: created` see it when it is made."
            if kind.name in field_sets.kinds_created_silently(vocabulary())
            else ""
        )
        yield f"Events: {events or 'none'}.{made}\n"
    yield "### request\n\nWhat the requests carry that make something (`request.…`, `body.…`):\n"
    for row in vocabulary().operations:
        if row.method == "POST" and row.status == 201:
            models = field_sets.models_of(row)
            yield f"`{row.method} {row.path}`\n"
            yield _names(_together(models))
    yield "### delivery\n\nWhat `expect: {delivery: …}` sees:\n"
    yield _names(field_sets.of_shape(vocabulary(), shapes.RecordedDelivery, explained({})))


def _together(shown: Iterable[object]) -> FieldSet:
    return FieldSet(
        tuple(form for one in shown for form in field_sets.of_shape(vocabulary(), one, explained({})).variants)
    )


def _names(fields: FieldSet) -> str:
    lines = ["| name | type | meaning |", "| - | - | - |"]
    lines += [f"| `{name}` | {_type(one)} | {_cell(_meaning(one))} |" for name, one in _flat(fields, "")]
    return "\n".join(lines) + "\n"


def _flat(fields: FieldSet, before: str) -> Iterable[tuple[str, FieldSet]]:
    for name, one in fields.names.items():
        yield f"{before}{name}{'[]' if 'array' in one.types else ''}", one
        yield from _flat(one, f"{before}{name}.")
        yield from _flat(one.items, f"{before}{name}.0.")


def _type(fields: FieldSet) -> str:
    if fields.enum is not None and len(fields.enum) <= _FEW:
        return " or ".join(f"`{word}`" for word in sorted(fields.enum))
    names = {"string": "text", "integer": "whole number", "array": "list"}
    empty = ["null"] if any(form.get("type") == "null" for form in fields.variants) else []
    return " or ".join([*(names.get(one, one) for one in sorted(fields.types)), *empty]) or "anything"


def _meaning(fields: FieldSet) -> str:
    """What the forms of a value say of it, each sentence once."""
    return " / ".join(dict.fromkeys(str(form["description"]) for form in fields.variants if form.get("description")))
