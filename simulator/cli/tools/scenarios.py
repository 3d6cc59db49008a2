"""`rampsim scenario`: checks, lists, runs and creates scenario files without a running server. `run` starts its own
server on a free port, so that webhooks use real connections.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path

import click

from simulator import host
from simulator.cli.options import option
from simulator.cli.output import Exit, Row, fail, read_file, say, write_file
from simulator.cli.remote import refuse_foreign, remote
from simulator.cli.tools import completing
from simulator.engine.clients import asynchronous
from simulator.engine.clients import control as clients
from simulator.engine.scenario.files import library, loader, shipped
from simulator.engine.scenario.language import parts
from simulator.engine.scenario.run import results, runner
from simulator.engine.server import config, process
from simulator.engine.text import reports
from simulator.engine.text.reports import counted
from simulator.service import TOKEN_EXCHANGE


@click.group()
def scenario() -> None:
    """Check, list, run and create scenario files.

    Only `upload` and `activate` need a running server.
    """


@scenario.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@option("--strict", is_flag=True, help="Also exit with 1 for warnings.")
def validate(files: tuple[Path, ...], strict: bool) -> None:
    """Check scenario files without running them.

    Problems are printed as FILE:LINE:COLUMN: MESSAGE. A warning is about something legal but probably wrong, such as an
    unknown field or a rule that can never match. With --strict, warnings are problems.
    """
    reader = loader.Loader(host.Simulator(library=library.Library()).vocabulary)
    known = library.names_in([*sorted(shipped.shipped_directory().glob("*.yaml")), *files])
    problems = warned = 0
    for path in files:
        errors: list[library.FileProblem] = []
        warnings: tuple[library.FileProblem, ...] = ()
        try:
            warnings = reader.load_file(path, known).warnings
        except OSError as error:
            problems += 1
            say(f"{path}:1:1: cannot read the file: {error.strerror or error}")
        except loader.ScenarioError as error:
            errors, warnings = error.errors, error.warnings
        found = [*((one, "") for one in errors), *((one, "" if strict else "warning: ") for one in warnings)]
        for one, word in sorted(found, key=lambda pair: (pair[0]["line"], pair[0]["column"])):
            _say_problem(path, one, word)
        problems, warned = problems + len(errors), warned + len(warnings)
    if problems or (strict and warned):
        fail(f"{counted(problems + warned * strict, 'problem')} found", code=Exit.REFUSED)
    valid = "1 file is valid" if len(files) == 1 else f"{len(files)} files are valid"
    say(valid + (f"; {counted(warned, 'warning')} (--strict counts them as problems)" if warned else ""))


def _say_problem(path: Path, problem: Row, word: str = "") -> None:
    where = f"{problem['path']}: " if problem["path"] else ""
    say(f"{path}:{problem['line']}:{problem['column']}: {word}{where}{problem['message']}")


@scenario.command("list")
def list_scenarios() -> None:
    """List the built-in scenarios."""
    files = host.Simulator().library
    width = max(map(len, files), default=0)
    for name, file in files.items():
        say(f"{name:<{width}}  {file.description}")


@scenario.command()
@click.argument("scenarios", nargs=-1, required=True, metavar="FILE|NAME...", shell_complete=completing.scenarios)
@option("--junit", metavar="FILE", type=click.Path(path_type=Path), help="Write a JUnit report to this file.")
@option("--seed", metavar="N", type=click.IntRange(0), default=1, help="Seed of the worlds.")
@option("--url", metavar="URL", help="Run on this server instead of a new one.")
@option("--control-token", metavar="TOKEN", envvar="SIMULATOR_CONTROL_TOKEN", help="Control token for --url.")
def run(scenarios: tuple[str, ...], junit: Path | None, seed: int, url: str | None, control_token: str | None) -> None:
    """Run the `drive` of scenarios and check what they `expect`.

    Exits with 1 if an expectation fails.
    """
    import asyncio

    if url is not None:
        refuse_foreign(url)
    files = _load(scenarios)
    try:
        ran = asyncio.run(_run_all(files, seed, url, control_token or ""))
    except ConnectionError:
        fail(f"no simulator responds at {url}", code=Exit.UNREACHABLE)
    if junit is not None:
        write_file(junit, reports.junit([result.suite() for result in ran]))
    if failed := [result.name for result in ran if not result.passed]:
        fail(f"failed: {', '.join(failed)}", code=Exit.REFUSED)


def _load(scenarios: Sequence[str]) -> list[library.ScenarioFile]:
    """Return the scenario files with these names or paths. Exit with 2 if a file does not exist, or with 1 if a file is
    invalid.
    """
    simulator = host.Simulator()
    files = []
    for given in scenarios:
        if given in simulator.library:
            files.append(simulator.library[given])
            continue
        try:
            files.append(loader.Loader(simulator.vocabulary).load_file(Path(given), simulator.library))
        except OSError:
            close = " or ".join(repr(name) for name in get_close_matches(given, simulator.library, n=3))
            hint = f"did you mean {close}?" if close else "`rampsim scenario list` lists them."
            fail(f"{given!r} is neither a file nor a built-in scenario; {hint}")
        except loader.ScenarioError as error:
            fail(*str(error).splitlines(), code=Exit.REFUSED)
    return files


async def _run_all(
    files: Iterable[library.ScenarioFile], seed: int, url: str | None, token: str
) -> list[results.RunResult]:
    """Run the files in order and print each timeline. If no server responds at `url`, raise ConnectionError."""
    from contextlib import AsyncExitStack

    ran = []
    async with AsyncExitStack() as stack:
        if url is None:
            application = host.create_app(config.Config(clock="manual"))
            url, token = await stack.enter_async_context(process.serving(application)), ""
        client = asynchronous.HttpClient(url, token)
        await client.request("GET", "/_simulator/health")
        for file in files:
            ran.append(await runner.run(file, client, TOKEN_EXCHANGE, seed=seed))
            say(ran[-1].readable())
    return ran


@scenario.command()
@click.argument("name")
@option("--force", is_flag=True, help="Overwrite an existing file.")
def new(name: str, force: bool) -> None:
    """Write NAME.yaml, a small commented scenario that runs."""
    path = Path(name if name.endswith((".yaml", ".yml")) else f"{name}.yaml")
    if not parts.is_name(path.stem):
        rule = "use letters, digits, `.`, `-` and `_`, and not `active`"
        fail(f"{path.stem!r} is not a valid scenario name: {rule}")
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            template = (Path(__file__).parent / "scenario.template.yaml").read_text("utf-8")
            file.write(template.replace("NAME", path.stem))
    except FileExistsError:
        fail(f"{path} exists; choose another name, or overwrite it with --force")
    except OSError as error:
        fail(f"cannot write {path}: {error.strerror or error}")
    say(f"Wrote {path}. Check it with `rampsim scenario validate {path}`, run it with")
    say(f"`rampsim scenario run {path}`, or serve with it: `rampsim serve --scenario {path}`.")


@scenario.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@option("--activate", "is_activated", is_flag=True,
        help="Also activate the uploaded scenarios, after those that are already active.")  # fmt: skip
@remote
def upload(client: clients.ControlClient, files: tuple[Path, ...], is_activated: bool) -> None:
    """Upload scenario files to a world of a running server.

    A scenario with the same name is replaced.

    \b
    rampsim scenario upload flaky-receiver.yaml --activate
    """
    names, count = [], 0
    for path in files:
        try:
            made = client.send("POST", "/scenarios", read_file(path), "application/yaml")
        except clients.CallRefused as refusal:
            errors = refusal.error.get("errors")
            if not isinstance(errors, list):
                raise
            count += len(errors)
            for problem in errors:
                _say_problem(path, problem)
            continue
        names.append(str(made["name"]))
        say(f"Uploaded {made['name']}.{'' if is_activated else ' Activate it with --activate.'}")
        for warning in made.get("warnings", ()):
            say(f"{path}:{warning['line']}:{warning['column']}: warning: {warning['message']}")
    if count:
        fail(f"{counted(count, 'problem')} found; invalid files were not uploaded", code=Exit.REFUSED)
    if is_activated:
        active = [row["name"] for row in client.get("/scenarios")["data"] if row["active"]]
        _activate(client, [*(name for name in active if name not in names), *names])


@scenario.command()
@click.argument("names", nargs=-1, metavar="NAME...", shell_complete=completing.scenarios)
@option("--none", "is_none", is_flag=True, help="Deactivate all scenarios.")
@remote
def activate(client: clients.ControlClient, names: tuple[str, ...], is_none: bool) -> None:
    """Activate exactly these scenarios in a running server.

    Later scenarios have priority.

    \b
    rampsim scenario activate autopilot payout-fails-and-refunds
    rampsim scenario activate --none
    """
    if bool(names) == is_none:
        raise click.UsageError("name the scenarios to activate, or use --none")
    _activate(client, list(names))


def _activate(client: clients.ControlClient, names: list[str]) -> None:
    active = client.put("/scenarios/active", {"names": names})["names"]
    say(f"Active: {', '.join(active) or 'none'}.")
