"""Client generators as judges: each one runs in its default configuration, and its client is compiled and executed.

A row contains the command for a generator, the command that compiles its output together with the integration in
`clients/`, and the command that runs the result against a simulator. If a machine lacks a tool, the row is skipped and
the output names the tool. Generated code goes to a directory that the caller specifies and is not saved. `python -m
tests.tools.judges.generators` runs all rows, and renews the table in `contracts/README.md` if none was skipped.
"""

from __future__ import annotations

import asyncio
import atexit
import importlib.metadata
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from subprocess import CompletedProcess

import orjson

from contracts.generator.clients import FILE, table
from simulator.engine.server.config import Config
from simulator.engine.server.process import serving
from simulator.host import create_app
from tests.tools.judges import tools
from tests.tools.judges.grown import grown_service

CLIENTS = tools.HERE / "clients"
WANTED = {"onramp": "completed", "event": "transaction.completed", "object": "completed"}
"""The output of a successful integration."""

_DEBIAN = "apt-get install --no-install-recommends " + " ".join(tools.HERE.joinpath("debian.txt").read_text().split())
_ANNOTATIONS = Path("/usr/share/java/geronimo-annotation-1.3-spec.jar")
_GO_PATH = Path("/usr/share/gocode")
_BRIEF = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""How Java runs what is over in seconds: to compile more than once, on every core, would cost more than it gains."""
_MYPY = ("-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent")
_TSC = ("--strict", "--target", "es2022", "--module", "nodenext", "--types", "node", "--skipLibCheck")

STEPS = ("generated", "compiled", "ran", "survived")
Command = Sequence[str | Path]


@dataclass(frozen=True)
class Language:
    """How a client in some language is compiled with the integration beside it, and run."""

    compile: Callable[[Path], Command]
    run: Callable[[Path], Command]
    beside: str = ""
    """A folder of what its integrations share, or nothing."""


@dataclass(frozen=True)
class Generator:
    """One generator; commands run in the directory that holds the integration, the client goes to `client` in it."""

    name: str
    version: Callable[[], str]
    flow: str
    """The folder of the integration in `clients/`."""
    language: Language
    client: str
    """The location of the client: a folder or a file in the directory."""
    generate: Callable[[Path, Path], Command] | None
    """How a client is made of a contract; None where openapi-generator makes it."""
    model: str
    """A regular expression that finds every model in the client's files."""
    lacks: Callable[[], str] = lambda: ""
    """What this machine lacks and how to get it; empty where nothing is missing."""
    environment: Callable[[Path], dict[str, str]] = lambda directory: {}
    asks: dict[str, object] = field(default_factory=dict)
    """The options for openapi-generator, if it is the generator."""


@dataclass
class Row:
    """The result for one generator."""

    name: str
    version: str = ""
    skipped: str = ""
    files: int = 0
    lines: int = 0
    models: int = 0
    seconds: float = 0.0
    failed: str = ""
    """The step that failed, of STEPS."""
    said: str = field(default="", repr=False)
    """The output of the failed step."""

    def shown(self) -> dict[str, str]:
        """The row as it stands in the table."""
        passed = len(STEPS) if not self.failed else STEPS.index(self.failed)
        steps = {step: "yes" if place < passed else "no" for place, step in enumerate(STEPS)}
        counts = {"files": self.files, "lines": self.lines, "models": self.models, "seconds": round(self.seconds)}
        return {
            "generator": self.name,
            "version": self.version,
            **{name: f"{count:,}" for name, count in counts.items()},
            **(dict.fromkeys(STEPS, "skipped") if self.skipped else steps),
        }


def _python_package(name: str) -> Callable[[], str]:
    return lambda: importlib.metadata.version(name)


def _npm_package(name: str) -> Callable[[], str]:
    def version() -> str:
        found: dict[str, str] = orjson.loads((tools.STORE / "node_modules" / name / "package.json").read_bytes())
        return found["version"]

    return version


def _script(name: str) -> Path:
    """A command of this Python's environment."""
    path = Path(sys.executable).parent / name
    return path if path.exists() else Path(shutil.which(name) or path)


def _jar() -> Path:
    found = find_spec("openapi_generator_cli")
    if found is None or found.origin is None:
        raise tools.Missing("openapi-generator-cli is missing: run `make contract`")
    return Path(found.origin).parent / "openapi-generator.jar"


def _lacks(*wanted: str | Path) -> Callable[[], str]:
    """Names the commands and files that are not there."""

    def missing() -> str:
        lacking = [
            str(one)
            for one in wanted
            if not (one.exists() if isinstance(one, Path) else shutil.which(one, path=tools.environment()["PATH"]))
        ]
        return f"no {', '.join(lacking)} here; {_DEBIAN}" if lacking else ""

    return missing


def together(asked: Sequence[tuple[Generator, Path, Path]]) -> Command:
    """One start of openapi-generator for all that is asked of it: a generator, a contract, where the client goes."""
    files = []
    for generator, contract, client in asked:
        client.parent.mkdir(parents=True, exist_ok=True)
        files.append(client.with_suffix(".json"))
        files[-1].write_bytes(orjson.dumps({**generator.asks, "inputSpec": str(contract), "outputDir": str(client)}))
    return ("java", *_BRIEF, "-jar", _jar(), "batch", "-r", "1", *files)


def _node(*arguments: str | Path) -> Command:
    return (tools.node_directory() / "node", *arguments)


def _tsc(directory: Path) -> Command:
    return (tools.package("typescript") / "bin" / "tsc", *_TSC, "--outDir", directory / "out", directory / "flow.ts")


def _python_paths(*parts: str) -> Callable[[Path], dict[str, str]]:
    def paths(directory: Path) -> dict[str, str]:
        joined = ":".join(str(directory / part) for part in parts)
        return {"PYTHONPATH": joined, "MYPYPATH": joined}

    return paths


@cache
def mypy_cache() -> Path:
    """What mypy has found out about libraries, for all that this process lets it judge."""
    directory = tempfile.TemporaryDirectory()
    atexit.register(directory.cleanup)
    return Path(directory.name)


def _python_types(directory: Path) -> Command:
    return (sys.executable, *_MYPY, "--cache-dir", mypy_cache(), directory / "flow.py")


def _python_run(directory: Path) -> Command:
    return (sys.executable, directory / "flow.py")


def _class_path(directory: Path) -> str:
    return f"{_jar()}:{_ANNOTATIONS}:{directory / 'classes'}"


def _java_compile(directory: Path) -> Command:
    sources = [directory / "Flow.java", *sorted((directory / "client" / "src" / "main").rglob("*.java"))]
    listed = directory / "sources.txt"
    listed.write_text("\n".join(map(str, sources)))
    brief = [f"-J{option}" for option in _BRIEF]
    # No annotation asks for code here, and to look for processors in the generator's jar takes a while.
    return (
        "javac",
        *brief,
        "-proc:none",
        "-nowarn",
        "-cp",
        _class_path(directory),
        "-d",
        directory / "classes",
        f"@{listed}",
    )


PYTHON = Language(_python_types, _python_run, "python")
TYPESCRIPT = Language(_tsc, lambda directory: _node(directory / "out" / "flow.js"), "typescript")
GO = Language(
    lambda directory: ("go", "build", "-o", directory / "flow", "main.go"), lambda directory: (directory / "flow",)
)
JAVA = Language(_java_compile, lambda directory: ("java", *_BRIEF, "-cp", _class_path(directory), "Flow"))

GENERATORS = (
    Generator(
        name="openapi-python-client",
        version=_python_package("openapi-python-client"),
        flow="openapi_python_client",
        language=PYTHON,
        client="ramp_client",
        generate=lambda contract, client: (
            *(_script("openapi-python-client"), "generate", "--path", contract, "--output-path", client),
            *("--meta", "none", "--fail-on-warning"),
        ),
        model=r"^class \w+",
        environment=_python_paths("."),
    ),
    Generator(
        name="datamodel-code-generator",
        version=_python_package("datamodel-code-generator"),
        flow="datamodel_code_generator",
        language=PYTHON,
        client="models.py",
        generate=lambda contract, client: (
            *(_script("datamodel-codegen"), "--input", contract, "--input-file-type", "openapi", "--output", client),
        ),
        model=r"^class \w+",
        environment=_python_paths("."),
    ),
    Generator(
        name="openapi-typescript + openapi-fetch",
        version=_npm_package("openapi-typescript"),
        flow="openapi_typescript",
        language=TYPESCRIPT,
        client="schema.ts",  # and no `.d.ts`, which the compiler would take for a library that others have checked
        generate=lambda contract, client: (tools.tool("openapi-typescript"), contract, "--output", client),
        model=r"^        [A-Z]\w+: ",
    ),
    Generator(
        name="hey-api",
        version=_npm_package("@hey-api/openapi-ts"),
        flow="hey_api",
        language=TYPESCRIPT,
        client="client",
        generate=lambda contract, client: (tools.tool("openapi-ts"), "--input", contract, "--output", client),
        model=r"^export type \w+ = ",
    ),
    Generator(
        name="openapi-generator (python)",
        version=_python_package("openapi-generator-cli"),
        flow="openapi_generator_python",
        language=PYTHON,
        client="client",
        generate=None,
        asks={"generatorName": "python"},
        model=r"^class \w+\((?:BaseModel|str, Enum)\)",
        lacks=_lacks("java"),
        environment=_python_paths(".", "client"),
    ),
    Generator(
        name="openapi-generator (go)",
        version=_python_package("openapi-generator-cli"),
        flow="openapi_generator_go",
        language=GO,
        client="src/ramp/client",
        generate=None,
        asks={"generatorName": "go"},
        model=r"^type (?!Nullable|Api|_)\w+ struct",
        lacks=_lacks("java", "go", _GO_PATH / "src" / "gopkg.in" / "validator.v2"),
        # The libraries of Debian lie in a GOPATH; a module would be looked up at the proxy.
        environment=lambda directory: {
            "GO111MODULE": "off",
            "GOPATH": f"{directory}:{_GO_PATH}",
            "GOCACHE": str(tools.STORE / "go"),
        },
    ),
    Generator(
        name="openapi-generator (java)",
        version=_python_package("openapi-generator-cli"),
        flow="openapi_generator_java",
        language=JAVA,
        client="client",
        # The library that needs the JDK and Jackson alone, which the generator's own jar carries.
        generate=None,
        asks={"generatorName": "java", "library": "native", "additionalProperties": {"openApiNullable": "false"}},
        model=r"^public class \w+ (?:extends |implements )?.*\{$",
        lacks=_lacks("java", "javac", _ANNOTATIONS),
    ),
)


def measure(client: Path, model: str) -> tuple[int, int, int]:
    """How many files, lines and models a client has."""
    files = [client] if client.is_file() else [path for path in client.rglob("*") if path.is_file()]
    files = [path for path in files if path.parent.name != "__pycache__"]
    texts = [path.read_text("utf-8", errors="replace") for path in files]
    lines = sum(text.count("\n") for text in texts)
    return len(files), lines, sum(len(re.findall(model, text, re.MULTILINE)) for text in texts)


def prepare(generator: Generator, directory: Path) -> None:
    """Put the integration and what it needs into a directory."""
    for folder in filter(None, (generator.flow, generator.language.beside)):
        shutil.copytree(CLIENTS / folder, directory, dirs_exist_ok=True)
    (directory / "node_modules").symlink_to(tools.STORE / "node_modules")


def play(command: Command, directory: Path, environment: dict[str, str], *, later: bool) -> CompletedProcess[str]:
    """Run an integration against a simulator of its own, or against the service of `later`."""

    async def serve() -> CompletedProcess[str]:
        async with grown_service() if later else serving(create_app(Config())) as origin:
            return await asyncio.to_thread(tools.run, *command, origin, cwd=directory, **environment)

    return asyncio.run(serve())


def printed(done: CompletedProcess[str]) -> object:
    """The line of JSON that an integration ends with; None where it is none."""
    try:
        return orjson.loads(done.stdout.strip().rpartition("\n")[2])
    except orjson.JSONDecodeError:
        return None


def make(generator: Generator, contract: Path, directory: Path) -> CompletedProcess[str]:
    """Make a client of a contract beside its integration."""
    prepare(generator, directory)
    client = directory / generator.client
    command = generator.generate(contract, client) if generator.generate else together([(generator, contract, client)])
    return tools.run(*command, cwd=directory, **generator.environment(directory))


def judge(generator: Generator, directory: Path, made: CompletedProcess[str]) -> Row:
    """Compile a client that was made in a directory with its integration, and run that."""
    row = Row(generator.name, version=generator.version())
    began = time.monotonic()
    environment = generator.environment(directory)
    done = made
    row.failed = "generated" if done.returncode else ""
    if not row.failed:
        row.files, row.lines, row.models = measure(directory / generator.client, generator.model)
        done = tools.run(*generator.language.compile(directory), cwd=directory, **environment)
        row.failed = "compiled" if done.returncode else ""
    for step in ("ran", "survived"):
        if not row.failed:
            done = play(generator.language.run(directory), directory, environment, later=step == "survived")
            row.failed = step if done.returncode or printed(done) != WANTED else ""
    row.said = done.stdout if row.failed else ""
    row.seconds = time.monotonic() - began
    return row


def main() -> int:
    """Judge the contract by every generator and write the table down; the exit status."""
    rows = []
    for generator in GENERATORS:
        if lacking := generator.lacks():
            rows.append(Row(generator.name, skipped=lacking))
            continue
        with tempfile.TemporaryDirectory() as directory:
            began = time.monotonic()
            made = make(generator, tools.CONTRACTS / "openapi.yaml", Path(directory))
            rows.append(judge(generator, Path(directory), made))
            rows[-1].seconds = time.monotonic() - began
        sys.stdout.write(rows[-1].said)
    sys.stdout.write(table([row.shown() for row in rows]))
    if any(row.skipped or row.failed for row in rows):
        return 1
    FILE.write_bytes(
        orjson.dumps([row.shown() for row in rows], option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
