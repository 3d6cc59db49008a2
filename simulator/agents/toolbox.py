"""The tools by their names: what a model is told of each, and how a call of one is judged, made and answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simulator.agents import inputs, inspecting, missing, tools, verdict
from simulator.agents.answers import bounded, written
from simulator.agents.session import DOCS, Session, ToolRefused
from simulator.engine.clients.control import CallRefused, Unreachable
from simulator.engine.clients.live_keys import LiveKey
from simulator.engine.rows.error import ApiError
from simulator.engine.text.fields import parse
from simulator.engine.text.json import JsonObject, Shown
from simulator.engine.text.strict import did_you_mean, refuse_unknown
from simulator.kernel.dataclass import dataclass
from simulator.service import LIVE_KEYS

INSTRUCTIONS = (
    "A simulator of a stablecoin ramp and wallet service: quotes, onramps, offramps, wallets, signed webhooks. Nothing "
    "here moves real funds. Begin with `world` (make), which gives keys and an inbox for webhooks. `call` speaks the "
    "interface of the service; `act` is the outside world (a payer pays); `advance` moves simulated time, which else "
    "stands still; `inspect` shows what happened and why; `fault` and `scenario` make things go wrong; `verdict` says "
    "yes or no at the end. Answers are short; where they say `left_out` or `next_cursor`, ask narrower or go on."
)


@dataclass(frozen=True)
class Tool:
    """One tool: what a model reads of it, the page that says more, what it takes, what it does."""

    name: str
    description: str
    docs: str
    input: type[inputs.ToolInput]
    run: Callable[[Session, Any], JsonObject]
    reads_only: bool = False

    @property
    def schema(self) -> JsonObject:
        """The JSON Schema of what it takes; no other member is allowed."""
        whole = self.input.model_json_schema()
        plain: JsonObject = _plain(whole, whole.get("$defs", {}))
        return plain


TOOLS: tuple[Tool, ...] = (
    Tool(
        "world",
        "Make, choose, show, reset or end a world: an isolated simulation with its own clock, keys and data. Use it "
        "first (do: make), and once for each test. Answers with clock, keys as environment variables for the "
        "application under test, and the URL of an inbox that can be registered for webhooks. The clock is manual: "
        "nothing happens until `advance` or `act`.",
        "how-to/worlds",
        inputs.WorldInput,
        tools.world,
    ),
    Tool(
        "call",
        "Call the service's interface as an application would: POST /quotes, POST /quotes/{id}/confirm, GET "
        "/transactions/{id}, POST /beneficiaries, POST /webhooks, … Token and Idempotency-Key are taken care of. "
        "Answers with http_status and the members of the body; a refusal names the code, the parameter, and why.",
        "reference/errors",
        inputs.CallInput,
        tools.call,
    ),
    Tool(
        "act",
        "Let the outside world do something: a payer pays (payment_arrives), a chain confirms (deposit_arrives), a "
        "payout fails (fail), a network goes down (set_network). Without `action` it lists what is possible for "
        "`target` now. With `event` it walks to that event. Answers with the object afterwards and the events emitted.",
        "reference/actions",
        inputs.ActInput,
        tools.act,
    ),
    Tool(
        "advance",
        "Move simulated time, in exactly one way: by, to, next_timer, until_id with until_status, or until_event. All "
        "that is due on the way happens, webhooks and their retries included, before it answers: no sleeping, no "
        "polling. Without arguments it shows the clock and what is due next. What never comes is refused: not_reached.",
        "how-to/time",
        inputs.AdvanceInput,
        tools.advance,
    ),
    Tool(
        "inspect",
        "Look at what there is and what happened; changes nothing. `what: resource` with an id tells an object's story "
        "with causes and what is possible now; `requests`, `events`, `deliveries`, `inbox` list newest first; "
        "`reference` has test values that choose outcomes. Answers with rows and, where there are more, next_cursor.",
        "how-to/see-what-happened",
        inputs.InspectInput,
        inspecting.inspect,
        reads_only=True,
    ),
    Tool(
        "fault",
        "Make the wire fail: refuse, delay, cut calls or lose their answers; double, delay, lose, forge webhooks. Use "
        "it to see whether an application survives. Answers with the id of the fault, and warnings where it may never "
        "be hit.",
        "reference/faults",
        inputs.FaultInput,
        tools.fault,
    ),
    Tool(
        "scenario",
        "What the outside world does by itself, and when, as YAML: list the ones that ship, validate or upload your "
        "own, choose which are active in the world, run one on its own. A validation answers with problems by line and "
        "column.",
        "how-to/scenarios",
        inputs.ScenarioInput,
        tools.scenario,
    ),
    Tool(
        "verdict",
        "Use it last: is the integration right? Judges the outcomes that you name, whether webhooks were acknowledged "
        "and verify, advice about the traffic, and coverage. Answers with ok, exit_code (0 yes, 1 no, 4 unknown: "
        "nothing shows it), each problem with what to do, what held, and which evidence is missing.",
        "reference/control",
        inputs.VerdictInput,
        verdict.verdict,
        reads_only=True,
    ),
)
_BY_NAME = {tool.name: tool for tool in TOOLS}


def use(session: Session, name: str, arguments: Shown) -> tuple[bool, JsonObject]:
    """Whether a call of a tool succeeded, and its answer: never more than it may be, and never an exception."""
    most = arguments.get("max_characters", 2_000)
    most = most if isinstance(most, int) and 200 <= most <= 20_000 else 2_000
    try:
        LIVE_KEYS.refuse_in(written(arguments), "What was given to the tool")
        tool = _BY_NAME.get(name)
        if tool is None:
            message = f"There is no tool {name!r}{did_you_mean(name, _BY_NAME)}"
            raise ToolRefused("not_found", f"{message.removesuffix('?')}.", param="name", allowed=list(_BY_NAME))
        refuse_unknown(tool.input, arguments, "parameter")
        missing.refuse(missing.required_of(tool.input), arguments)
        return True, bounded(tool.run(session, parse(tool.input, arguments)), most)
    except ToolRefused as error:
        told = {**vars(error), "http_status": error.status}
    except CallRefused as refusal:
        told = {"code": str(refusal.status), "message": "", **refusal.error, "http_status": refusal.status}
    except LiveKey as error:
        told = {"code": "live_key", "message": str(error)}
    except ApiError as error:
        # The values that a parameter of a tool may have, where they are few.
        allowed = _BY_NAME[name].schema["properties"].get(error.param or "", {}).get("enum")
        told = {"code": error.code, "message": error.message, "param": error.param, "allowed": allowed}
    except Unreachable as error:
        message = f"{error}. Start a server with `rampsim serve`, or begin `rampsim mcp` without --url."
        told = {"code": "unreachable", "message": message}
    shown = {name: told[name] for name in _TOLD if told.get(name) is not None}
    docs = f"{session.url}{DOCS}{_BY_NAME[name].docs if name in _BY_NAME else ''}"
    return False, {"error": bounded({**shown, "docs": docs}, most - 20)}


_TOLD = ("code", "message", "http_status", "param", "allowed", "receipt", "errors")
"""What an error tells, as far as it is known."""


def _plain(schema: object, named: Shown) -> Any:
    """A schema in one piece, without what says nothing to a model: titles, nulls that stand for what was left out."""
    if isinstance(schema, list):
        return [_plain(one, named) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {name: value for name, value in schema.items() if name not in ("title", "$defs")}
    if "$ref" in kept:
        return _plain(named[kept["$ref"].rpartition("/")[2]], named)
    choices = [one for one in kept.get("anyOf", ()) if one != {"type": "null"}]
    if len(choices) == 1:
        kept = {**{name: value for name, value in kept.items() if name not in ("anyOf", "default")}, **choices[0]}
    if "properties" in kept:  # a property may be called like a word of the schema
        kept["properties"] = {name: _plain(one, named) for name, one in kept["properties"].items()}
    return {name: value if name == "properties" else _plain(value, named) for name, value in kept.items()}
