"""`rampsim probe`: checks the assumptions against a running service."""

from __future__ import annotations

import json
import re
import shlex
import time
from dataclasses import asdict
from pathlib import Path

import click

from simulator.cli.options import is_given, key_pair, option, target_keys
from simulator.cli.output import Exit, fail, require_writable, say, write_json
from simulator.cli.progress import Line
from simulator.cli.remote import control_on_loopback, is_address, refuse_foreign
from simulator.cli.tools import reporting
from simulator.cli.tools.assuming import known_switches
from simulator.engine.clients import control as clients
from simulator.evidence import flow, interrupts, listener, observed, planning, remote, session
from simulator.kernel.clock import parse_duration
from simulator.service import LIVE_KEYS, TOOLING

_FILE = click.Path(dir_okay=False, path_type=Path)
_LISTEN = re.compile(r".+:[0-9]{1,5}")
KEY_OPTIONS = {"--public-key": "RAMPSIM_PUBLIC_KEY", "--secret-key": "RAMPSIM_SECRET_KEY"}
"""The options with the key pair, and their environment variables."""


@click.command()
@option("--target", metavar="URL", help="Base URL that ends with /v1.")
@target_keys
@option("--spend", type=click.Choice(["none", "sandbox"]), default="none",
        help="none: only reads, quotes and calls that are refused. sandbox: also create resources and "
             "transactions.")  # fmt: skip
@option("--calls", metavar="N", type=click.IntRange(min=1), default=400, help="Maximum number of calls.")
@option("--wait", metavar="DURATION", default="0s", help="Maximum wall time to wait, such as 90s or 2h.")
@option("--only", multiple=True, metavar="ID", help="Decide only this assumption; repeatable.")
@option("--skip", multiple=True, metavar="ID", help="Skip this assumption; repeatable.")
@option("--control", default="auto", metavar="auto|none|URL",
        help="Origin of the control API of a simulator that the probe may control. auto: the target itself, if "
             "it is a simulator on loopback.")  # fmt: skip
@option("--webhook-url", metavar="URL", help="Public URL of the webhook listener.")
@option("--listen", default="127.0.0.1:8765", metavar="HOST:PORT", help="Address of the webhook listener.")
@option("--webhook-key", envvar="RAMPSIM_WEBHOOK_KEY", help="Key that signs the webhooks.")
@option("--user-id", metavar="ID", help="Another user of the service, as the recipient of transfers.")
@option("--plan", "plan_only", is_flag=True, help="Print the plan and make no calls.")
@option("--for", "priorities", type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="File assumptions.json from `rampsim explore --assumptions`. Its assumptions are "
             "decided first.")  # fmt: skip
@option("--json", "as_json", type=_FILE, help="Write the report, or with --plan the plan, as JSON to this file.")
@option("--out", type=_FILE, help="Write the observed file; a run continues an existing one.")
@option("--name", default="",
        help="Name of the target in the observed file.  "
             "[default: the name in the earlier file, or target]")  # fmt: skip
@option("--ca", type=click.Path(exists=True, dir_okay=False), metavar="FILE",
        help="CA certificates to trust instead of the system's certificates.")  # fmt: skip
@option("--allow-live", is_flag=True, help="Accept live keys. Works only with --spend none.")
def probe(
    target: str | None, public_key: str | None, secret_key: str | None, spend: str, calls: int, wait: str,
    only: tuple[str, ...], skip: tuple[str, ...], control: str, webhook_url: str | None, listen: str,
    webhook_key: str | None, user_id: str | None, plan_only: bool, priorities: Path | None,
    as_json: Path | None, out: Path | None, name: str, ca: str | None, allow_live: bool,
) -> None:  # fmt: skip
    """Check the assumptions against a running service.

    Each probe is a sequence of calls to which the service responds differently under the assumption and under its
    alternatives. By default, the run only reads, requests quotes, and makes calls that are refused.

    Exits with 1 if the service contradicts an assumption, with 3 if no service responds, and with 130 or 143 after
    SIGINT or SIGTERM.
    """
    probing, switches = TOOLING.probing(), known_switches((*only, *skip))
    if not set(only or switches) - set(skip):
        fail("--only and --skip leave no assumption to decide")
    try:
        wait_seconds = parse_duration(wait) / 1000
    except ValueError:
        fail(f"--wait: {wait!r} is not a duration like 90s or 2h")
    if out is not None and out.exists() and not out.is_file():
        fail(f"--out: {out} is not a regular file")
    require_writable(out, out and observed.draft_of(out), as_json)
    base_url, keys = "", ("", "")
    if not plan_only:
        base_url, keys = _checked_target(target, public_key, secret_key, spend, allow_live)
    earlier = None
    if out is not None:
        environment = secret_key and _environment(secret_key)
        try:
            earlier = observed.read_earlier(out, target, environment, switches)
        except observed.BadObserved as error:
            fail(f"--out: {error}")
    client = None if plan_only and control == "auto" else _control(control, target)
    _check_webhook_options(webhook_url, listen, webhook_key, spend)
    options = planning.Options(
        spends=probing.spends if spend == "sandbox" else probing.free,
        wait_seconds=wait_seconds,
        steers=client is not None,
        sees_events=client is not None or webhook_url is not None,
        only=only,
        skip=skip,
        first=_first(priorities),
    )
    if plan_only:
        document, steps = planning.read_probes(probing), flow.read_steps(probing.steps)
        facts = None if only else {} if earlier is None else earlier.facts
        made = reporting.plan_document(
            planning.plan(document, switches, steps, options), document, options, calls, facts
        )
        reporting.print_plan(made)
        write_json(as_json, made)
        return
    tls = None
    if ca is not None:
        import ssl

        try:
            tls = ssl.create_default_context(cafile=ca)
        except OSError:  # `ssl.SSLError` is one
            fail(f"--ca: {ca}: is not a PEM certificate file")
    if earlier is not None:
        say(f"{out}: continuing the file of {earlier.date}", err=True)
    service = remote.RemoteService(
        base_url, keys, calls=calls, wait_seconds=wait_seconds, control=client,
        live_keys=None if allow_live else LIVE_KEYS,
        listener=_listener(client, webhook_url, listen, webhook_key),
        account={"user_id": user_id} if user_id else {}, tls=tls,
    )  # fmt: skip
    run = session.Session(service, _environment(keys[1]), options, name=name, out=out, earlier=earlier)
    try:
        _run(run, as_json)
    finally:
        if service.listener is not None:
            service.listener.close()


def _checked_target(
    target: str | None, public_key: str | None, secret_key: str | None, spend: str, allow_live: bool
) -> tuple[str, tuple[str, str]]:
    """Return the base URL and the keys. Exit with code 2 if they cannot be used."""
    if target is None:
        fail("--target is missing. Give a base URL that ends with /v1, or --plan to make no calls")
    if not is_address(target):
        fail(f"--target: {target!r} is not a URL. Give a base URL that ends with /v1")
    keys = key_pair(public_key, secret_key)
    if any(map(LIVE_KEYS.is_real, keys)):
        if not allow_live:
            fail("the keys are live keys. Use sandbox keys, or add --allow-live and --spend none")
        if spend != "none":
            fail("--allow-live needs --spend none: live keys move real money")
    return target.rstrip("/"), keys


def _environment(secret_key: str) -> str:
    return "production" if LIVE_KEYS.is_live(secret_key) else "sandbox"


def _check_webhook_options(url: str | None, listen: str, key: str | None, spend: str) -> None:
    if url is None:
        return
    if not is_address(url):
        fail(f"--webhook-url: {url!r} is not a URL")
    if spend != "sandbox":
        fail("--webhook-url needs --spend sandbox: it registers an endpoint")
    if not key:
        fail("--webhook-url needs --webhook-key, which verifies the signatures")
    if _LISTEN.fullmatch(listen) is None:
        fail(f"--listen: {listen!r} is not HOST:PORT")


def _listener(
    client: clients.ControlClient | None, url: str | None, listen: str, key: str | None
) -> listener.Listener | None:
    """Open the webhook listener. For a controlled simulator, it is on loopback and uses the world's key."""
    if url is not None and key:
        host, _, port = listen.rpartition(":")
        try:
            return listener.Listener(host.strip("[]"), int(port), url, key)
        except (OSError, OverflowError) as error:
            fail(f"--listen: cannot listen on {listen}: {getattr(error, 'strerror', None) or error}")
    if client is None:
        return None
    try:
        credentials = client.get("/worlds/default")["credentials"]
        return listener.Listener("127.0.0.1", 0, "", next(iter(credentials.values()))["webhook_key"])
    except (clients.Unreachable, clients.CallRefused, KeyError, StopIteration):
        return None


def _first(path: Path | None) -> tuple[str, ...]:
    """Return the assumption ids in an `assumptions.json` file that `rampsim explore` wrote, in the same order."""
    if path is None:
        return ()
    try:
        left: list[object] = [json.loads(path.read_text(encoding="utf-8"))]
    except (ValueError, OSError):
        fail(f"{path} is not valid JSON; use assumptions.json as written by `rampsim explore --assumptions`")
    found: dict[str, None] = {}
    while left:
        value = left.pop(0)
        if isinstance(value, dict):
            if isinstance(value.get("id"), str):
                found[value["id"]] = None
            left.extend(value.values())
        elif isinstance(value, list):
            left.extend(value)
    return tuple(found)


def _control(control: str, target: str | None) -> clients.ControlClient | None:
    """Return a client for the simulator that the probe may control, or None."""
    url = None if control == "none" else control_on_loopback(target) if control == "auto" else control
    if url is None:
        return None
    if control != "auto":
        refuse_foreign(control)
    client = clients.ControlClient(url, timeout_seconds=60)
    try:
        clock, problem = client.get("/clock"), f"{url} is not a simulator"
    except (clients.Unreachable, clients.CallRefused) as error:
        clock, problem = None, str(error)
    if isinstance(clock, dict) and isinstance(clock.get("now"), str):
        return client
    if control != "auto":
        fail(f"--control: {problem}", code=Exit.UNREACHABLE)
    return None


def _run(run: session.Session, as_json: Path | None) -> None:
    from signal import SIGINT

    begun = time.monotonic()
    line = Line()
    signal, unsaved = 0, ""
    try:
        with run.service.interrupts.received():
            run.run(line.say, lambda text: say(text, err=True))
    except (remote.NotTheService, remote.SpentBudget) as error:
        line.clear()
        fail(str(error), code=Exit.UNREACHABLE)
    except interrupts.Interrupted as error:
        signal, run.ended = error.signal, f"{error}. {_continuation(run.out)}"
    except KeyboardInterrupt:
        signal, run.ended = SIGINT, f"a second signal interrupted the clean-up. {_continuation(run.out)}"
    except session.NotSaved as error:
        unsaved = str(error)
    finally:
        line.clear()
    decided, service = run.decisions.verdicts.values(), run.service
    reporting.report(decided, run.facts, service.calls, run.ended)
    reporting.hint(service, decided)
    for call in service.left_behind:
        say(f"Not cleaned up, because this call was not possible: {call}", err=True)
    content = {
        "version": 1,
        "target": service.base_url,
        "seconds": round(time.monotonic() - begun, 1),
        "calls": service.calls,
        "assumptions": [asdict(one) for one in decided],
        "facts": run.facts,
        "exchanges": service.exchanges,
    }
    write_json(as_json, content)
    if signal:
        raise SystemExit(Exit.BY_SIGNAL + signal)
    if unsaved:
        fail(unsaved)
    results = {one.verdict for one in decided}
    if results & {"differs", "neither"}:
        raise SystemExit(Exit.REFUSED)
    if results == {"undecided"} and all(one.reason == "unreachable" for one in decided):
        raise SystemExit(Exit.UNREACHABLE)


def _continuation(out: Path | None) -> str:
    if out is None:
        return "No verdict was saved. A run with --out FILE can be continued"
    return f"The verdicts so far are in {out}. To continue: {_command()}"


def _command() -> str:
    """Return the command that was run, without its keys."""
    context = click.get_current_context()
    words = ["rampsim", "probe"]
    for one in context.command.params:
        name, value = one.name or "", context.params.get(one.name or "")
        if not is_given(name) or name.endswith("_key"):
            continue
        option = one.opts[-1]
        for part in value if isinstance(value, tuple) else [value]:
            words += [option] if isinstance(part, bool) else [option, str(part)]
    return shlex.join(words)
