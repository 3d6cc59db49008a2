"""Assembles a server from its configuration: provider, default world, routes and start banner.

No other module imports a provider's resource packages. This module passes their contents to the engine and the tools.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from starlette.responses import RedirectResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from simulator import dashboard, service
from simulator.contract import serving
from simulator.docs import serving as docs
from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.control import access, insight, operation, rows, token_files
from simulator.engine.control import app as control
from simulator.engine.control.worlds import documents
from simulator.engine.durable import opening
from simulator.engine.rows.error import ApiError, ControlError
from simulator.engine.rows.provider import Provider
from simulator.engine.scenario.files import folder as scenario_folder
from simulator.engine.scenario.files import loader
from simulator.engine.scenario.files.library import Library
from simulator.engine.server.app import Application, ConnectionLimits
from simulator.engine.server.config import Config, ConfigError
from simulator.engine.server.http.fast_path import Handler, InlineCall, serve
from simulator.engine.server.http.hosts import Hosts, is_loopback
from simulator.engine.server.http.messages import Outgoing
from simulator.engine.server.running import folders
from simulator.engine.server.running.chunks import Content
from simulator.engine.server.runtime import Runtime
from simulator.engine.text import strict
from simulator.engine.text.citations import DOCS_BASE
from simulator.engine.text.masking import Masker
from simulator.engine.vocabulary.vocabulary import Vocabulary, collected, identity_of
from simulator.engine.webhooks import webhook_key
from simulator.engine.webhooks.courier import transport as transports
from simulator.engine.webhooks.courier.courier import wall_clock_ms
from simulator.engine.worlds.simulator import DEFAULT_SCENARIOS, Blueprint, Inherited
from simulator.engine.worlds.simulator import Simulator as AnySimulator
from simulator.kernel.clock import format_timestamp
from simulator.kernel.world import DEFAULT_WORLD
from simulator.providers.ramp.provider import PROVIDER as PROVIDER


def vocabulary() -> Vocabulary:
    """Return the provider's vocabulary, for tools that need no simulator."""
    return collected(PROVIDER)


class Simulator(AnySimulator):
    """All worlds of a process and their shared state. The default provider is the one in this package."""

    def __init__(
        self, provider: Provider = PROVIDER, library: Library | None = None, inherited: Inherited | None = None
    ) -> None:
        super().__init__(provider, library, inherited)


def control_rows(
    extra: tuple[operation.ControlOperation, ...] = (), provider: Provider = PROVIDER
) -> tuple[operation.ControlOperation, ...]:
    """Return all operations of the control API. The operations in `extra` come last."""
    return rows.control_rows(provider.alternatives, service.TOOLING.control_rows(), extra)


def create_app(config: Config | None = None, *, transport: transports.Transport | None = None) -> Application:
    """Return the server as a Starlette application that contains the world `default`.

    You can run the application on any ASGI server, mount it in another application under a prefix, or call it without
    a socket through `starlette.testclient.TestClient` or `httpx.ASGITransport`. `transport` sends the webhooks. By
    default, they are sent over HTTP. Raise `ConfigError` if a scenario cannot be found or read.
    """
    config = config or Config()
    simulator = Simulator()
    folder = _folder(simulator, config.scenario_directories)
    names = _scenarios(simulator, config)
    simulator.inherited = inherited = Inherited(config.settings, config.now_ms, config.rate, names, config.observed)
    start_ms = inherited.start_ms(config.clock, wall_clock_ms())
    default = Blueprint(
        id=DEFAULT_WORLD,
        seed=config.seed,
        mode=config.clock,
        now_ms=start_ms,
        rate=config.rate,
        scenarios=names,
        settings=config.settings,
        observed=config.observed,
        at_wall_time=config.clock == "real" and config.now_ms is None,
    )
    on_loopback = is_loopback(config.host)
    tokens, known = _tokens(config, on_loopback)

    def make_default() -> None:
        if config.state is not None:
            _restore(simulator, config.state)
            return
        try:
            simulator.create_world(default)
        except ControlError as error:
            raise ConfigError([f"--scenario: {error.message}"]) from None

    if config.store is None:
        make_default()
    runtime = Runtime(simulator, transport, masker=Masker(known))
    if folder is not None:
        runtime.folder = folder
        runtime.accompany(lambda: folders.follow(runtime, folder))
    if config.store is not None and not opening.is_shared(config.store):
        opening.persist(runtime, config, default, make_default)
    hosts = Hosts(config.allowed_hosts, origins=config.allowed_origins, open_to_all=not on_loopback)
    steering = _steering(runtime, hosts, tokens)
    limits = ConnectionLimits(config.idle_seconds, config.request_seconds)
    application = _application(runtime, steering, hosts, limits)
    if config.store is not None and opening.is_shared(config.store):
        opening.share(application, config, default, make_default, steering.admission)
    return application


def _tokens(config: Config, on_loopback: bool) -> tuple[access.Tokens | None, list[str]]:
    """Return the control tokens that a server checks (None if it checks none), and a list of all tokens to mask in
    output.

    On loopback without a token file, the token is not checked. Raise `ConfigError` if the token file is invalid.
    """
    if config.control_tokens is None and (on_loopback or config.control_token is None):
        return None, [config.control_token] if config.control_token else []
    try:
        return token_files.tokens_of(config.control_token, config.control_tokens)
    except token_files.BadTokens as error:
        raise ConfigError([f"--control-tokens: {problem}" for problem in error.problems]) from None


def application_of(
    runtime: Runtime,
    *,
    hosts: Hosts | None = None,
    limits: ConnectionLimits | None = None,
    tokens: access.Tokens | None = None,
) -> Application:
    """Return the application for existing worlds. If `tokens` is given, each control call needs one of them."""
    return _application(runtime, _steering(runtime, hosts, tokens), hosts, limits)


def _steering(runtime: Runtime, hosts: Hosts | None, tokens: access.Tokens | None) -> _MadeLate:
    def control_interface() -> control.ControlInterface:
        pages = (
            serving.CONTRACT_ROWS + dashboard.DASHBOARD_ROWS + serving.PAGE_ROWS + insight.PAGE_ROWS + docs.DOCS_ROWS
        )
        operations = control_rows(pages, runtime.simulator.provider)
        return control.ControlInterface(runtime, operations, hosts=hosts, tokens=tokens)

    return _MadeLate(control_interface)


def _application(
    runtime: Runtime, steering: Handler, hosts: Hosts | None, limits: ConnectionLimits | None
) -> Application:
    at_the_root = [Route("/", _Home()), *(Route(path, _Below(steering)) for path in ("/llms.txt", "/llms-full.txt"))]
    return Application(runtime, at_the_root, control=steering, hosts=hosts, limits=limits)


class _MadeLate:
    """A control API that is created at the first call, so that a starting server does not load its modules."""

    def __init__(self, make: Callable[[], control.ControlInterface]) -> None:
        self._make = cache(make)

    def admit(self, scope: Scope) -> InlineCall:
        return self._make().admit(scope)

    async def refuse(self, error: ApiError) -> Outgoing[Content]:
        return await self._make().refuse(error)

    def admission(self, scope: Scope) -> control.Admission | None:
        return self._make().admission(scope)


class _Below:
    """Serves a path of the control API at the server's root as well, where clients expect it by convention."""

    def __init__(self, steering: Handler) -> None:
        self._steering = steering

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        prefix: str = scope.get("root_path", "")
        path = f"{prefix}{CONTROL_BASE}{scope['path'].removeprefix(prefix)}"
        await serve(self._steering, {**scope, "path": path, "raw_path": path.encode()}, receive, send)


class _Home:
    """Redirects browsers from the start page to the dashboard. The API refuses any other method."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "GET":
            prefix: str = scope.get("root_path", "")
            asked = f"?{query.decode('latin-1')}" if (query := scope.get("query_string")) else ""
            await RedirectResponse(f"{prefix}{CONTROL_BASE}{dashboard.PATH}{asked}")(scope, receive, send)
        else:
            application: Application = scope["app"]
            await application.interface(scope, receive, send)


def _restore(simulator: AnySimulator, path: Path) -> None:
    """Create the default world from a file. Raise `ConfigError` if the file does not contain a world."""
    try:
        simulator.restore(documents.read_document(simulator, path.read_bytes()), DEFAULT_WORLD)
    except OSError as error:
        raise ConfigError([f"--state: {str(path)!r} cannot be read: {error.strerror or error}"]) from None
    except (ControlError, ApiError) as error:
        raise ConfigError([f"--state {path}: {error.message}"]) from None


def scenario_problems(names: tuple[str, ...], directories: tuple[str, ...] = ()) -> list[str]:
    """Return the problems with the scenarios in a configuration, one line for each."""
    if not names and not directories:
        return []
    simulator = Simulator()
    try:
        _folder(simulator, tuple(map(Path, directories)))
    except ConfigError as error:
        return error.problems
    return _resolve(simulator, names)[1]


def _folder(simulator: AnySimulator, directories: tuple[Path, ...]) -> scenario_folder.Folder | None:
    """Read the scenario directories for the first time. Raise `ConfigError` if any file is invalid."""
    if not directories:
        return None
    folder = scenario_folder.Folder(directories, simulator.vocabulary, simulator.library)
    folder.take(folder.read())
    if folder.problems:
        raise ConfigError(
            [f"--scenarios: {loader.describe_problem(problem['file'], problem)}" for problem in folder.problems]
        )
    return folder


def _scenarios(simulator: AnySimulator, config: Config) -> tuple[str, ...]:
    if config.scenarios is None:
        return DEFAULT_SCENARIOS
    names, problems = _resolve(simulator, config.scenarios)
    if problems:
        raise ConfigError(problems)
    return names


def _resolve(simulator: AnySimulator, given: tuple[str, ...]) -> tuple[tuple[str, ...], list[str]]:
    """Return the names of the given scenarios, and the problems. A scenario is given as a name, or as a file, which is
    added to the library.
    """
    names, problems = [], []
    for name in given:
        if name in simulator.library:
            names.append(name)
            continue
        try:
            file = loader.Loader(simulator.vocabulary).load_file(Path(name), simulator.library)
            simulator.library[file.name] = file
            names.append(file.name)
        except OSError:
            close = " or ".join(repr(known) for known in strict.similar(name, simulator.library))
            hint = f"did you mean {close}?" if close else "`rampsim scenario list` shows them"
            problems.append(f"--scenario: {name!r} is neither a file nor a known scenario; {hint}")
        except loader.ScenarioError as error:
            problems.append(f"--scenario {name}: {error}")
    return tuple(names), problems


def banner(simulator: AnySimulator, origin: str) -> list[str]:
    """Return the lines that a server prints when it starts: base URLs, keys, the clock, and a final ready line. If
    worlds are shared, the default world may be on another server. Its keys and clock are then omitted.
    """
    world, is_here = simulator.default, DEFAULT_WORLD in simulator.worlds
    keys = identity_of(world).credentials(world)
    lines = []
    for environment, base in simulator.provider.environments.items():
        if not is_here:
            lines += [f"{environment:<12} {origin}{base}"]
            continue
        lines += [
            environment,
            f"  base URL     {origin}{base}",
            f"  public key   {keys[environment]['public_key']}",
            f"  secret key   {keys[environment]['secret_key']}",
            f"  webhook key  {webhook_key(world, environment)}",
        ]
    lines += [f"control      {origin}/_simulator", f"dashboard    {origin}/"]
    if is_here:
        lines += [f"reference    {origin}/_simulator/reference.html", f"docs         {origin}{DOCS_BASE}/"]
        lines += [f"clock        {world.clock.mode}, now {format_timestamp(world.now_ms)}, seed {world.seed}"]
    return [*lines, f"Ready on {origin}"]
