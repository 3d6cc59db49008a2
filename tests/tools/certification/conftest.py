"""Running receivers, each with a separate world, and certification runs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from simulator.certification.receiver import Handler, Service, Shop, server_of
from simulator.certification.report import Report
from simulator.certification.running import Settings, certify
from tests.remote import Remote


@dataclass
class Receiver:
    """A running receiver and the world whose webhook key it has."""

    origin: str
    shop: Shop
    world: Remote
    environment: str = "sandbox"

    @property
    def url(self) -> str:
        return f"{self.origin}/webhooks"

    @property
    def key(self) -> str:
        key: str = self.world.world["credentials"][self.environment]["webhook_key"]
        return key

    def certified(self, **more: Any) -> Report:
        """Certify the receiver, by default with its books."""
        given = {
            "simulator": self.world.origin,
            "books": f"{self.origin}/books",
            "books_seconds": 0.4,
            "outage_seconds": 0.1,
            **more,
        }
        settings = Settings(self.url, self.key, "http://127.0.0.1:1", **given)
        return asyncio.run(certify(settings))


Start = Callable[..., Receiver]


@pytest.fixture
def start(world: Remote) -> Iterator[Start]:
    """Return a function that starts a receiver, by default the reference receiver."""
    with ExitStack() as stack:

        def run(handler: type[Handler] = Handler, kind: type[Shop] = Shop, environment: str = "sandbox") -> Receiver:
            credentials = world.world["credentials"]
            keys, other = credentials[environment], credentials["production"]
            shop = kind(":memory:", Service(keys["base_url"], keys["public_key"], keys["secret_key"]))
            shop.other_key = other["webhook_key"]  # type: ignore[attr-defined]  # for the applications of wrong.py
            origin = stack.enter_context(_served(keys["webhook_key"], shop, handler))
            return Receiver(origin, shop, world, environment)

        yield run


@contextmanager
def _served(key: str, shop: Shop, handler: type[Handler]) -> Iterator[str]:
    shop.closing = threading.Event()  # type: ignore[attr-defined]  # for the applications of wrong.py
    server = server_of(key, shop, handler=handler)
    server.daemon_threads = True
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        shop.closing.set()  # type: ignore[attr-defined]  # it is set above
        server.shutdown()
        thread.join()
        server.server_close()
