"""`reference/scenarios.md`: the language of scenario files, with every field and every name that `where` accepts."""

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
"""The largest number of values of a field that are listed."""

_HEAD = """\
# Scenario files

A scenario describes what third parties do, and when. It is a YAML (or JSON) file.
[Write a scenario](../how-to/scenarios.md) shows how to write the first one. This page lists every field and every name.

- `rampsim scenario validate FILE` reports every error with line and column. With `--strict`, warnings are errors.
- `rampsim scenario run FILE` runs the file's own `drive` and shows calls, events, webhook attempts and applied faults.
- Editors complete and check files with `contracts/scenario.schema.json`. Start the file with
  `# yaml-language-server: $schema=…/scenario.schema.json`.
- Files are YAML 1.2: `on` is a string, and so is `12:30`. Quote strings with `${…}` inside `{ }` and `[ ]`.
- A duration is `500ms`, `20s`, `2h30m`, `3d`, an ISO 8601 duration up to days, or a number of seconds.
"""

_EVALUATION = """\
## Rules of evaluation

1. When an event occurs, the active scenarios are checked from the last to the first: **later scenarios win**. Within a
   scenario, rules are checked from top to bottom. The first matching rule takes the event. No other rule sees it.
2. A rule matches if all conditions of `where` are true, `times` is not used up, and a random draw succeeds
   (`probability`). If the draw fails, the rule does not count as used, and the next rule is checked.
3. The steps of the rule are planned immediately, one after another. `after` is the delay since the previous step, or
   since the event. Steps are timers of the world: `GET /_simulator/timers` lists them and snapshots contain them.
   Deactivating the scenario deletes them.
4. A step whose action is no longer possible is **skipped** and reported. That is not an error. A step that fails is
   rolled back. If it fails again immediately, the scenario is stopped.
5. Random values (`probability`, `between`) come from the world's seed, from a separate stream for each scenario. The
   same seed and calls give the same values, regardless of other scenarios.
6. **Slowdown applies twice**: planning a step multiplies its delay by the current slowdown of the object's network.
   When the network changes, the remaining delay is scaled again. While the network is down, steps that need it wait.
7. An object that was handed over (`scenario:` in a step), or that a request assigned to a scenario
   (`X-Simulator-Scenario`), belongs to that scenario only. Active scenarios ignore it.
8. A scenario's faults apply while it is active.
"""

_ON = """\
## on

An event type of the [catalogue](webhooks.md), a list of them, or one of these two words:

- `created`: a resource was created that has no event for that: {silent}. The object is the new resource.
- `request`: a call has passed all format checks. Such a rule has an `answer` instead of steps. It matches
  `method`, `path` (a glob on the path below the base URL), and fields of the request (`body.…`).

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

Each entry is a dotted path and a condition on its value. All conditions must be true. Numbers in a path are list
indexes: `required_actions.0.code`.

| condition | true if the value is |
| - | - |
| `{type: onramp}` | equal. A number matches an amount in a string: `5` matches `"5.00"` |
| `{type: [onramp, buy]}` | in the list |
| `{tx_hash: null}` | null or missing |
| `{source_amount: {gte: 100, lt: 1000}}` | accepted by all named tests |
"""

_BESIDE = """\
A rule can also use:

| prefix | value |
| - | - |
| `request.` or `body.` | the request that created the object or its parent |
| `beneficiary.` | the beneficiary of the object, its request or its quote |
| `quote.` | the quote of the object |

In a rule `on: request`, these refer to the current call.

The steps of the rule can use a named group of `matches` as `${name}`:

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
        "Steps at fixed times after the scenario is activated.",
        """\
name: celo-goes-down
description: Celo is down for a quarter of an hour, and steps that need it wait.
timeline:
  - {at: 10m, action: set_network, network: celo, status: down}
  - {at: 25m, action: set_network, network: celo, status: operational}
slowdown: {degraded: 5}
""",
    ),
    (
        "world",
        "WorldState",
        "The state that activating the scenario sets. Each entry is an action with its parameters, and may have an "
        "`environment`. If an action is refused, the scenario is not activated.",
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
        "Faults on the wire while the scenario is active. [Faults](faults.md) describes each field.",
        """\
name: first-quote-fails
description: The first call for a quote fails, and events arrive twice.
faults:
  - {match: {method: POST, path: /quotes}, times: 1, respond: {status: 503, code: service_unavailable, retry_after: 2}}
  - {webhook: {event: transaction.completed}, deliver: {copies: 2}}
""",
    ),
)

_DRIVE = """\
## drive

The calls of an integrator, for `rampsim scenario run`. A world in which the scenario is only active ignores them.
A step is one of:

- `advance: 10m`: move the simulated clock.
- `action: NAME` with `target` and parameters: perform an action of a third party.
- `receiver: {respond: [500, 200]}`: set the next responses of the run's webhook receiver.
- a call: `get`, `post`, `put`, `patch` or `delete`. The response must be 2xx, or have the given `status` and `code`.
  A call to the control interface (`/_simulator/…`) applies to the run's world.

Later steps can use the response of a named step (`quote: {post: /quotes, …}`): `${quote.id}`. `${world.…}` is the world
of the run, `${receiver.id}` its webhook endpoint.

"""

_EXPECT = """\
## expect

The expected result after the drive has ended and every delivery has a response. A failed expectation reports the actual
values.

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
    "ExpectEvent": "An event occurred",
    "ExpectResource": "A resource has the expected values",
    "ExpectAnswer": "A step has the expected response",
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
    text += ["## Names for where\n", *_kinds()]
    return "\n".join(part.strip("\n") + "\n" for part in text)


def examples() -> list[str]:
    """Return the complete scenario files that the page shows."""
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
        must = " *(required)*" if name in required else ""
        lines.append(f"| `{name}` | {_cell(field['description'])}{must} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _kinds() -> Iterator[str]:
    yield (
        "The fields of `data.object`, by kind of resource. Below each table are its events, with the statuses\n"
        "that it can have then. `name[]` is a list: `name.0` is its first item.\n"
    )
    for kind in vocabulary().kinds.values():
        shape = kind.shape()
        if shape is None:
            continue
        yield f"### {kind.name}\n"
        shapes_shown = dict.fromkeys([shape, *(make() for make in kind.event_shapes.values())])
        yield _names(_together(shapes_shown))
        events_of_kind = [
            (name, one.statuses) for name, group in vocabulary().subjects.items() for one in group if one.kind is kind
        ]
        events = ", ".join(f"`{name}` ({', '.join(statuses)})" for name, statuses in events_of_kind)
        made = (
            " A rule with `on: created` matches when the resource is created."
            if kind.name in field_sets.kinds_created_silently(vocabulary())
            else ""
        )
        yield f"Events: {events or 'none'}.{made}\n"
    yield "### request\n\nFields of requests that create resources (`request.…`, `body.…`):\n"
    for row in vocabulary().operations:
        if row.method == "POST" and row.status == 201:
            models = field_sets.models_of(row)
            yield f"`{row.method} {row.path}`\n"
            yield _names(_together(models))
    yield "### delivery\n\nFields for `expect: {delivery: …}`:\n"
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
    names = {"string": "string", "integer": "integer", "array": "list"}
    empty = ["null"] if any(form.get("type") == "null" for form in fields.variants) else []
    return " or ".join([*(names.get(one, one) for one in sorted(fields.types)), *empty]) or "anything"


def _meaning(fields: FieldSet) -> str:
    return " / ".join(dict.fromkeys(str(form["description"]) for form in fields.variants if form.get("description")))
