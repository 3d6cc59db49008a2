"""The tools by name: their descriptions for a model, and the code that executes a tool call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_type_hints

from simulator.agents import inputs, inspecting, missing, tools, verdict
from simulator.agents.answers import bounded, written
from simulator.agents.session import DOCS, Session, ToolRefused
from simulator.engine.clients.control import CallRefused, Unreachable
from simulator.engine.clients.guard import LiveKey
from simulator.engine.rows.error import ApiError
from simulator.engine.text.fields import parse
from simulator.engine.text.json import JsonObject, Shown
from simulator.engine.text.strict import did_you_mean, refuse_unknown
from simulator.kernel.dataclass import dataclass
from simulator.service import LIVE_KEYS

INSTRUCTIONS = (
    "A simulator of a stablecoin ramp and wallet service: quotes, onramps, offramps, wallets, signed webhooks. Nothing "
    "here moves real funds. Start with `world` (make), which returns keys and an inbox for webhooks. `call` makes API "
    "calls; `act` performs actions of third parties (a payer pays); `advance` moves simulated time, which is otherwise "
    "paused; `inspect` shows what happened and why; `fault` and `scenario` cause problems; `verdict` says yes or no at "
    "the end. Responses are short; if one has `left_out` or `next_cursor`, narrow the request or get the next page."
)


@dataclass(frozen=True)
class Tool:
    """One tool with its documentation page. The function's docstring is the description that a model sees."""

    run: Callable[[Session, Any], JsonObject]
    docs: str
    reads_only: bool = False

    @property
    def name(self) -> str:
        return self.run.__name__

    @property
    def description(self) -> str:
        return " ".join((self.run.__doc__ or "").split())

    @property
    def input(self) -> type[inputs.ToolInput]:
        found: type[inputs.ToolInput] = get_type_hints(self.run)["given"]
        return found

    @property
    def schema(self) -> JsonObject:
        """The JSON Schema for the tool's parameters."""
        whole = self.input.model_json_schema()
        plain: JsonObject = _plain(whole, whole.get("$defs", {}))
        return plain


TOOLS: tuple[Tool, ...] = (
    Tool(tools.world, "how-to/worlds"),
    Tool(tools.call, "reference/errors"),
    Tool(tools.act, "reference/actions"),
    Tool(tools.advance, "how-to/time"),
    Tool(inspecting.inspect, "how-to/see-what-happened", reads_only=True),
    Tool(tools.fault, "reference/faults"),
    Tool(tools.scenario, "how-to/scenarios"),
    Tool(verdict.verdict, "reference/control", reads_only=True),
)
_BY_NAME = {tool.name: tool for tool in TOOLS}


def use(session: Session, name: str, arguments: Shown) -> tuple[bool, JsonObject]:
    """Execute a tool call. Return True and the result, or False and the error. Never raises. The sizes of the result
    and the error are limited.
    """
    most = arguments.get("max_characters", 2_000)
    most = most if isinstance(most, int) and 200 <= most <= 20_000 else 2_000
    try:
        LIVE_KEYS.check(written(arguments), "The tool call")
        tool = _BY_NAME.get(name)
        if tool is None:
            message = f"There is no tool {name!r}{did_you_mean(name, _BY_NAME)}"
            raise ToolRefused("not_found", f"{message.removesuffix('?')}.", param="name", allowed=list(_BY_NAME))
        refuse_unknown(tool.input, arguments, "parameter")
        missing.refuse(missing.required_of(tool.input), arguments)
        return True, bounded(tool.run(session, parse(tool.input, arguments)), most)
    except ToolRefused as error:
        error_fields = {**vars(error), "http_status": error.status}
    except CallRefused as refusal:
        error_fields = {"code": str(refusal.status), "message": "", **refusal.error, "http_status": refusal.status}
    except LiveKey as error:
        error_fields = {"code": "live_key", "message": str(error)}
    except ApiError as error:
        # The possible values of an enum parameter.
        allowed = _BY_NAME[name].schema["properties"].get(error.param or "", {}).get("enum")
        error_fields = {"code": error.code, "message": error.message, "param": error.param, "allowed": allowed}
    except Unreachable as error:
        message = f"{error}. Start a server with `rampsim serve`, or start `rampsim mcp` without --url."
        error_fields = {"code": "unreachable", "message": message}
    shown = {name: error_fields[name] for name in _ERROR_FIELDS if error_fields.get(name) is not None}
    docs = f"{session.url}{DOCS}{_BY_NAME[name].docs if name in _BY_NAME else ''}"
    return False, {"error": bounded({**shown, "docs": docs}, most - 20)}


_ERROR_FIELDS = ("code", "message", "http_status", "param", "allowed", "receipt", "errors")
"""The fields in an error."""


def _plain(schema: object, named: Shown) -> Any:
    """Return the schema with resolved references, without titles, and without null for optional values."""
    if isinstance(schema, list):
        return [_plain(one, named) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {name: value for name, value in schema.items() if name not in ("title", "$defs")}
    if isinstance(kept.get("description"), str):
        kept["description"] = " ".join(kept["description"].split())
    if "$ref" in kept:
        return _plain(named[kept["$ref"].rpartition("/")[2]], named)
    choices = [one for one in kept.get("anyOf", ()) if one != {"type": "null"}]
    if len(choices) == 1:
        kept = {**{name: value for name, value in kept.items() if name not in ("anyOf", "default")}, **choices[0]}
    if "properties" in kept:  # the name of a property may be a schema keyword
        kept["properties"] = {name: _plain(one, named) for name, one in kept["properties"].items()}
    return {name: value if name == "properties" else _plain(value, named) for name, value in kept.items()}
