"""`rampsim capture`: record real traffic through a reverse proxy."""

from __future__ import annotations

import signal
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import click

from simulator.cli.options import option
from simulator.cli.output import Exit, exits, fail, say
from simulator.cli.progress import Line
from simulator.cli.remote import is_address
from simulator.engine.server import process
from simulator.engine.text.reports import counted
from simulator.evidence.capture import messages, recorder, relay
from simulator.evidence.corpus import known

_BASE = "/v1"
_DEFAULT_PORT = 8643


@click.command()
@option("--upstream", required=True, metavar="URL", help="Base URL of the service, which ends with /v1.")
@option("--port", type=click.IntRange(0, 65535), default=_DEFAULT_PORT, help="Port on 127.0.0.1; 0 picks a free port.")
@option("--out", type=click.Path(file_okay=False, path_type=Path), default="corpus", help="Directory of the recording.")
@option("--name", default="", help="Name of the recording. The file is DIR/NAME.jsonl.  [default: recording-1, -2, …]")
@option("--inbox", is_flag=True, help="Receive webhooks at /inbox and record them.")
@option("--forward-webhooks", metavar="URL", help="Forward webhooks to your receiver, unchanged. Opens the inbox.")
@option("--webhook-key", envvar="RAMPSIM_WEBHOOK_KEY", help="Key to verify webhooks with.")
@option("--hide-amounts", is_flag=True, help="Replace amounts and rates, too.")
@option("--ca", type=click.Path(exists=True, dir_okay=False), metavar="FILE",
        help="CA certificates to trust instead of the system's certificates.")  # fmt: skip
def capture(
    upstream: str, port: int, out: Path, name: str, inbox: bool, forward_webhooks: str | None,
    webhook_key: str | None, hide_amounts: bool, ca: str | None,
) -> None:  # fmt: skip
    """Record traffic with the real service.

    Opens a reverse proxy on this machine: use http://127.0.0.1:PORT/v1 as the base URL of your client. Each call
    becomes a line of DIR/NAME.jsonl. Secrets are never written, and personal data is replaced with pseudonyms.

    `rampsim infer DIR` and `rampsim compare DIR` use the recording. End with Ctrl-C.
    """
    import asyncio

    if Path(name).name != name or name.startswith("."):
        fail(f"--name: {name!r} is not the name of a file. Use --out for its directory")
    place = _place(_with_base(upstream), "--upstream", ca)
    receiver = None if forward_webhooks is None else _place(forward_webhooks, "--forward-webhooks", ca)
    with asyncio.Runner(loop_factory=process.new_event_loop) as runner:
        runner.run(_run(place, receiver, port, out, name, inbox, webhook_key, hide_amounts))


def _with_base(url: str) -> str:
    """Return the base URL. Exit with 2 if the URL does not end with /v1."""
    if not is_address(url):
        fail(f"--upstream: {url!r} is not a URL. Give a base URL that ends with {_BASE}")
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    if not path.endswith(_BASE) or parts.query or parts.fragment:
        fail(f"--upstream: {url!r} does not end with {_BASE}. Give the base URL of the API")
    return f"{parts.scheme}://{parts.netloc}{path}"


def _place(url: str, option: str, ca: str | None) -> relay.Place:
    if not is_address(url):
        fail(f"{option}: {url!r} is not a URL")
    try:
        return relay.place_of(url, option, ca)
    except OSError:  # `ssl.SSLError` is one
        fail(f"--ca: {ca}: is not a PEM certificate file")


async def _run(
    upstream: relay.Place, receiver: relay.Place | None, port: int, out: Path, name: str, inbox: bool,
    webhook_key: str | None, hide_amounts: bool,
) -> None:  # fmt: skip
    import asyncio

    with exits(recorder.Refused):
        recording = recorder.Recorder(out, name, hide_amounts=hide_amounts)
    known.known()
    line = Line()

    def report(problem: str) -> None:
        line.clear()
        say(problem, err=True)

    proxy = relay.Relay(
        upstream, recording, now_ms=lambda: time.time_ns() // 1_000_000, say=report, inbox=inbox, receiver=receiver,
        webhook_key=webhook_key, recorded=lambda: line.say(f"{recording.written} recorded"),
    )  # fmt: skip
    try:
        server = await asyncio.start_server(proxy.serve, "127.0.0.1", port, limit=messages.BUFFER_BYTES)
    except OSError as error:
        recording.discard()
        fail(f"--port {port}: {error.strerror or error}. Choose another --port", code=Exit.REFUSED)
    origin = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    say(f"base URL     {origin}{relay.BASE}")
    if inbox or receiver is not None:
        say(f"inbox        {origin}{relay.INBOX}")
    say(f"recording    {recording.path}")
    say(f"Ready on {origin}")
    ended = asyncio.Event()
    for one in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # on Windows, an interrupt cancels this task
            asyncio.get_running_loop().add_signal_handler(one, ended.set)
    try:
        await ended.wait()
    finally:
        server.close()
        await proxy.end()
        recording.close()
        line.clear()
        say(f"{counted(recording.written, 'exchange')} in {recording.path}")
