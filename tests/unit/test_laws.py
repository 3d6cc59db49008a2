"""Architecture rules, checked in the source code (`simulator/ARCHITECTURE.md`)."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from simulator.engine.control.worlds.documents import contents_of
from simulator.engine.rows.error import ENGINE_ERRORS, ErrorCode
from simulator.engine.rows.kind import Record
from simulator.engine.rows.room import Room
from simulator.engine.worlds.simulator import tables_of
from simulator.host import Simulator, vocabulary
from simulator.kernel.store import TableKey
from simulator.providers.ramp.provider import ROOMS
from tests.measures import nodes_of, sources, text_of, tree_of
from tests.places import ROOT
from tests.support import ENVIRONMENTS

pytestmark = pytest.mark.xdist_group("source")  # one worker parses the modules, once

PACKAGE = ROOT / "simulator"
SOURCES = sources()

LONGEST_FILE = 420
UNIVERSAL = {code for code, row in vocabulary().errors.items() if row.anywhere}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def imports(path: Path) -> list[tuple[int, str, tuple[str, ...]]]:
    """Every import of a file, wherever it stands: line, module, imported names."""
    found = [(node.lineno, alias.name, ()) for node in nodes_of(path, ast.Import) for alias in node.names]
    return found + [
        (node.lineno, node.module or "", tuple(alias.name for alias in node.names))
        for node in nodes_of(path, ast.ImportFrom)
    ]


def folder_of(room: Room) -> Path:
    return PACKAGE / "engine" / "webhooks" if room.name == "webhooks" else PACKAGE / "providers" / "ramp" / room.name


def calls(path: Path, *names: str) -> Iterator[ast.Call]:
    """Every call of a function by one of these names (the last part of a dotted one)."""
    for node in nodes_of(path, ast.Call):
        function = node.func
        called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if called in names:
            yield node


def importers(*modules: str) -> set[str]:
    """The files that import one of these modules or something below them."""
    return {
        name_of(path)
        for path in SOURCES
        for _, module, names in imports(path)
        for full in (module, *(f"{module}.{name}" for name in names))
        if any(full == wanted or full.startswith(f"{wanted}.") for wanted in modules)
    }


def outside(found: set[str], *allowed: str) -> set[str]:
    """What of the files lies neither in nor below an allowed path."""
    return {path for path in found if not any(path == place or path.startswith(f"{place}/") for place in allowed)}


def test_the_kernel_imports_the_standard_library_only() -> None:
    forbidden = {"asyncio", "time", "os", "socket", "secrets", "uuid"}
    wrong = [
        f"{name_of(path)}:{line} {module}"
        for path in sorted((PACKAGE / "kernel").glob("*.py"))
        for line, module, _ in imports(path)
        if not module.startswith("simulator.kernel")
        and (module.partition(".")[0] not in sys.stdlib_module_names or module.partition(".")[0] in forbidden)
    ]
    assert wrong == []


def test_the_product_knows_neither_its_tests_nor_what_makes_its_contract() -> None:
    assert importers("tests", "contracts") == set()


def _reached(paths: Iterable[Path]) -> set[Path]:
    """Modules of the tests, and those that they import from one another."""
    found, waiting = set[Path](), list(paths)
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        for _, module, names in imports(path):
            for full in (module, *(f"{module}.{name}" for name in names)):
                place = ROOT.joinpath(*full.split("."))
                near = (place.with_suffix(".py"), place / "__init__.py")
                waiting += [one for one in near if full.startswith("tests.") and one.exists()]
    return found


def test_tests_of_the_engine_reach_no_provider_and_no_tool() -> None:
    """They run on the toy: neither they nor the helpers they import know the ramp or the host."""
    known = ("simulator.engine", "simulator.kernel", "simulator.certification.service")  # the last for the toy's row
    reached = _reached((ROOT / "tests" / "unit" / "engine").rglob("*.py"))
    wrong = [
        f"{name_of(path)}:{line} {module}"
        for path in sorted(reached)
        for line, module, names in imports(path)
        for full in ([f"{module}.{name}" for name in names] if module == "simulator" else [module])
        if full.startswith(("simulator", "contracts")) and not full.startswith(known)
    ]
    assert wrong == []
    assert ROOT / "tests" / "toy" / "lending.py" in reached
    assert ROOT / "tests" / "support.py" not in reached


def test_the_wall_clock_is_read_only_in_the_driver_the_courier_and_the_command_line() -> None:
    wall = {"datetime.now", "datetime.utcnow", "datetime.today", "date.today", "time.time", "time.time_ns"}
    last = {name.partition(".")[2] for name in wall}
    readers = {
        name_of(path)
        for path in SOURCES
        for node in nodes_of(path, ast.Attribute)
        if node.attr in last and ".".join(ast.unparse(node).split(".")[-2:]) in wall
    }
    from_time = {
        name_of(path)
        for path in SOURCES
        for _, module, names in imports(path)
        if module == "time" and {"time", "time_ns"} & set(names)
    }
    # A webhook's receiver compares the timestamp with its own clock, and so does the law that stands in for one.
    receivers = (
        "simulator/providers/ramp/laws/account/webhooks.py",
        "simulator/testing/receiving/deliveries.py",
        "simulator/certification/receiver.py",
    )
    # Spans are of the machine's time: they lie beside those of other programs.
    spans = "simulator/engine/server/telemetry/otlp.py"
    allowed = (
        "simulator/engine/server/running/driver.py",
        "simulator/engine/webhooks/courier",
        "simulator/cli",
        "simulator/evidence",  # a probe waits for a real service, and an observed file has a date
        spans,
        *receivers,
    )
    assert outside(readers | from_time, *allowed) == set()


def test_a_world_changes_under_a_cause_only() -> None:
    """`World.change(cause)` opens the changes of the store; whoever changes a world goes through it."""
    openers = {
        name_of(path)
        for path in SOURCES
        for call in (*calls(path, "change"), *calls(path, "begin"))
        if isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value).split(".")[-1] in ("store", "_store")
    }
    assert openers == {"simulator/kernel/world.py"}


def test_chance_outside_the_seed_is_drawn_only_where_worlds_are_made() -> None:
    unseeded = {"SystemRandom", "urandom", "uuid4", "uuid1", "token_hex", "token_bytes", "token_urlsafe"}
    drawers = {name_of(path) for path in SOURCES for _ in calls(path, *unseeded)}
    # A run of tests has a name of its own, so that its worlds meet no others in a server that many runs share.
    run = "simulator/testing/plugin/run.py"
    # Nobody can compute the pseudonyms of a recording, because their key is drawn and never written.
    key = "simulator/evidence/corpus/pseudonyms.py"
    assert outside(drawers, "simulator/engine/worlds/simulator.py", "simulator/conformance", run, key) == set()
    parts = ("rows", "records", "text", "faults", "worlds")
    pure = ("simulator/kernel/", "simulator/providers/ramp/", *(f"simulator/engine/{part}/" for part in parts))
    seeded = {path for path in importers("random", "secrets") if path.startswith(pure)}
    assert outside(seeded, "simulator/kernel/ids.py", "simulator/engine/worlds/simulator.py") == set()


def test_the_web_framework_stays_in_the_shells_that_serve() -> None:
    servers = importers("starlette", "sse_starlette", "uvicorn")
    before_a_replica = (
        "simulator/engine/durable/shared/fallback.py",
        "simulator/engine/durable/shared/proxy.py",
    )
    assert (
        outside(
            servers,
            "simulator/engine/server",
            "simulator/engine/control",
            "simulator/dashboard/__init__.py",
            "simulator/docs/serving.py",
            "simulator/host.py",
            *before_a_replica,
        )
        == set()
    )


def test_yaml_is_read_where_scenarios_contracts_tokens_and_contents_are() -> None:
    scenarios = ("simulator/engine/scenario/language/document.py", "simulator/engine/scenario/files/loader.py")
    readers = (
        *scenarios,
        "simulator/contract/files.py",
        "simulator/engine/control/token_files.py",
        "simulator/docs/library.py",
        "simulator/evidence/flow.py",
        "simulator/evidence/observed.py",
        "simulator/compare/accepting.py",
    )
    assert outside(importers("ruamel", "yaml"), *readers) == set()


def test_http_clients_are_in_one_package() -> None:
    speakers = importers("aiohttp", "httpx", "requests", "urllib.request", "http.client")
    clients = (
        "simulator/engine/clients",
        "simulator/certification/receiver.py",  # an example for integrators, which is complete in itself
        "simulator/testing",  # httpx is the client that the kit gives to tests
        "simulator/exploration/runs/callers.py",  # it marks the calls of the integrator's clients and sends none
    )
    assert outside(speakers, *clients) == set()


def test_no_module_is_imported_by_a_computed_name() -> None:
    """Such an import is seen by nobody who looks for imports; only the late importer itself has to."""
    computed = {
        f"{name_of(path)}:{call.lineno}"
        for path in SOURCES
        if path.name != "lazy.py"
        for call in nodes_of(path, ast.Call)
        if ast.unparse(call.func).rpartition(".")[2] in ("import_module", "__import__")
        and not isinstance(call.args[0], ast.Constant)
    }
    assert computed == set()


OF_THE_RAMP = [room.name for room in ROOMS if room.name != "webhooks"]


def test_the_order_of_the_rooms_is_one_and_the_same_everywhere() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if "ROOMS" in contract["name"])
    assert layers == [f"simulator.providers.ramp.{name}" for name in reversed(OF_THE_RAMP)]


@cache
def _exports(room: str) -> frozenset[str]:
    """The names that the `__init__` of a room imports, and its `ROOM`."""
    path = PACKAGE / "providers" / "ramp" / room / "__init__.py"
    imported = (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ImportFrom))
    return frozenset({"ROOM", *(alias.asname or alias.name for node in imported for alias in node.names)})


def test_a_room_is_entered_by_its_front_door() -> None:
    """Other packages import from the `__init__` of a room, and only what it imports itself."""
    wrong = []
    for path in SOURCES:
        for line, module, names in imports(path):
            parts = module.split(".")
            if parts[:3] != ["simulator", "providers", "ramp"] or len(parts) < 4 or parts[3] not in OF_THE_RAMP:
                continue
            if path.is_relative_to(PACKAGE / "providers" / "ramp" / parts[3]):
                continue
            exported = _exports(parts[3])
            if len(parts) > 4 or any(name not in exported for name in names):
                wrong.append(f"{name_of(path)}:{line} {module} {', '.join(names)}")
    assert wrong == []


def test_every_table_that_is_declared_is_one_of_those_that_documents_hold() -> None:
    declared = {
        key
        for path in SOURCES
        if path.name != "__main__.py"
        for value in vars(import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))).values()
        for key in (value.values() if isinstance(value, dict) else (value,))
        if isinstance(key, TableKey)
    }
    assert declared == set(contents_of(tables_of(vocabulary()), ENVIRONMENTS).tables.values())


def _record_classes(kind: type[Record] = Record) -> Iterator[str]:
    for child in kind.__subclasses__():
        yield child.__name__
        yield from _record_classes(child)


def _is_target(path: Path, value: ast.expr) -> bool:
    """Whether a value is the target of a move: `move.target`, a constant made of one, or the blank of a new record."""
    if isinstance(value, ast.Constant) and value.value == "":
        return True
    if isinstance(value, ast.Name):
        made = [
            node.value for node in tree_of(path).body if isinstance(node, ast.Assign) and value.id in names_in(node)
        ]
        return bool(made) and all(_is_target(path, one) for one in made if not isinstance(one, ast.Name))
    return isinstance(value, ast.Attribute) and value.attr == "target"


def names_in(node: ast.Assign) -> set[str]:
    return {target.id for target in node.targets if isinstance(target, ast.Name)}


def test_every_status_given_to_a_record_is_the_target_of_a_state_table() -> None:
    """Where a status goes into `replace` or the constructor of a record, it comes out of a move.

    The account's row and its two resources, which are views of it, take theirs from each other.
    """
    names = {"replace", "Profile", *_record_classes()}
    invented = sorted(
        f"{name_of(path)} {keyword.arg}={ast.unparse(keyword.value)}"
        for path in SOURCES
        for call in calls(path, *names)
        for keyword in call.keywords
        if keyword.arg in ("status", "kyc_status") and not _is_target(path, keyword.value)
    )
    assert invented == [
        "simulator/providers/ramp/profile/records.py kyc_status=record.status",
        "simulator/providers/ramp/profile/records.py status=profile.kyc_status",
        "simulator/providers/ramp/profile/records.py status=profile.status",
        "simulator/providers/ramp/profile/records.py status=record.status",
    ]


def test_every_status_that_can_be_written_is_a_state_of_its_table() -> None:
    for kind in Simulator().wiring.kinds.values():
        machine = kind.machine
        assert machine.initial or kind.standing is not None, f"{kind.name} can never come into being"
        targets = {move.target for row in (machine.initial, *machine.rows.values()) for move in row}
        assert targets <= set(machine.rows), kind.name


def test_every_event_that_a_state_table_or_a_room_emits_is_in_the_catalogue() -> None:
    from_tables = {
        event
        for kind in Simulator().wiring.kinds.values()
        for row in (kind.machine.initial, *kind.machine.rows.values())
        for move in row
        for event in move.events
    }
    literal = {
        argument.value
        for path in SOURCES
        for call in calls(path, "emit", "make")
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str) and "." in argument.value
    }
    assert from_tables | literal <= set(vocabulary().events)
    assert from_tables, "the tables emit nothing: the law would hold of nothing"


def _codes_written(path: Path) -> Iterator[tuple[int, str]]:
    """The codes of `ApiError("a_code", …)`."""
    for call in calls(path, "ApiError"):
        code = call.args[0] if call.args else None
        if isinstance(code, ast.Constant) and isinstance(code.value, str):
            yield call.lineno, code.value


def _codes_raised(path: Path) -> Iterator[tuple[int, str]]:
    """The codes that are written, and those of the rows that a file names: `A_CODE` or `room.A_CODE`."""
    yield from _codes_written(path)
    found = [(node.lineno, node.id) for node in nodes_of(path, ast.Name)]
    found += [(node.lineno, node.attr) for node in nodes_of(path, ast.Attribute)]
    for line, name in found:
        if path.name != "states.py" and name.isupper() and name.lower() in vocabulary().errors:
            yield line, name.lower()


def test_a_room_names_its_errors_by_their_codes_and_declares_them_all() -> None:
    for room in ROOMS:
        path = folder_of(room) / "states.py"
        module = path.exists() and import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        rows = {name: row for name, row in vars(module or room).items() if isinstance(row, ErrorCode)}
        assert tuple(rows.items()) == tuple((row.code.upper(), row) for row in room.errors), room.name


def test_a_code_is_written_only_where_it_is_one_of_the_engine() -> None:
    """`ApiError` knows the status of those alone; a row of a room has its own."""
    written = [(name_of(path), line, code) for path in SOURCES for line, code in _codes_written(path)]
    assert written, "nothing is refused: the law would hold of nothing"
    assert [one for one in written if one[-1] not in ENGINE_ERRORS] == []
    of_bodies = {row.refuses_with for room in ROOMS for row in room.operations if row.refuses_with}
    assert of_bodies <= ENGINE_ERRORS.keys()


def test_every_error_code_is_in_the_catalogue() -> None:
    raised = {code for path in SOURCES for _, code in _codes_raised(path)}
    declared = {code for room in ROOMS for operation in room.operations for code in operation.errors}
    assert raised | declared | UNIVERSAL <= set(vocabulary().errors)


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_every_error_code_a_room_raises_is_declared_by_an_operation(room: Room) -> None:
    """By one of its own operations, or of a room that stands after it and calls it."""
    later = ROOMS[ROOMS.index(room) :]
    declared = {code for one in later for operation in one.operations for code in operation.errors}
    wrong = [
        f"{name_of(path)}:{line} {code}"
        for path in sorted(folder_of(room).rglob("*.py"))
        for line, code in _codes_raised(path)
        if code not in declared | UNIVERSAL
    ]
    assert wrong == []


def test_no_file_is_so_long_that_a_newcomer_gets_lost() -> None:
    lengths = {name_of(path): len(text_of(path).splitlines()) for path in SOURCES}
    too_long = {path: length for path, length in lengths.items() if length > LONGEST_FILE}
    assert too_long == {}


def test_every_module_says_what_it_is_for() -> None:
    assert [name_of(path) for path in SOURCES if tree_of(path).body and ast.get_docstring(tree_of(path)) is None] == []


def test_no_function_keeps_what_belongs_to_a_world() -> None:
    """What a cached function is given stays with it, and a world that stays with it would never end."""
    kept = {"World", "Store", "Table", "Simulator", "Record", "Event"}
    found = []
    for path in SOURCES:
        for node in nodes_of(path, ast.FunctionDef):
            if any("cache" in ast.unparse(one) for one in node.decorator_list):
                given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                named = {
                    name.id
                    for one in given
                    if one.annotation is not None
                    for name in ast.walk(one.annotation)
                    if isinstance(name, ast.Name)
                }
                found += [f"{name_of(path)}:{node.lineno}: {node.name}"] if named & kept else []
    assert found == []
