"""The shop in the process of the tests, with the mistakes that SHOP_MISTAKES names; its commands reach it by a port."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from starlette.testclient import TestClient

from simulator.testing import Receiver, World
from simulator.testing.plugin import world as world
from tests.integrators.rig import Rig
from tests.integrators.shop.app import create_app
from tests.integrators.shop.careless import careless
from tests.integrators.shop.settings import Settings


class Shop(Rig):
    """As it stands in the tests of the shop, but that it finds its account in the environment."""

    def __init__(self, world: World, webhooks: Receiver) -> None:
        self.world = world
        self.webhooks = webhooks
        self.settings = replace(
            Settings.from_environment(), books=":memory:", sleep=lambda seconds: self._sleep(seconds)
        )
        mistakes = [name for name in os.environ.get("SHOP_MISTAKES", "").split(",") if name]
        self.till = careless(*mistakes).open(self.settings)
        self.shop = self.till.shop
        self.app = create_app(self.till)
        self.customer = TestClient(self.app, raise_server_exceptions=False)
        webhooks.forward_to(self.app, raises=False)


def _jobs(shop: Shop) -> ThreadingHTTPServer:
    class Jobs(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = ""
            if self.path == "/settle":
                shop.shop.reconcile()
            else:
                text = "".join(json.dumps(shop.books.shown(order)) + "\n" for order in shop.books.orders())
            self.send_response(200)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *words: object) -> None:
            pass

    return ThreadingHTTPServer(("127.0.0.1", 0), Jobs)


@pytest.fixture
def shop(world: World, webhooks: Receiver) -> Iterator[Shop]:
    made = Shop(world, webhooks)
    server = _jobs(made)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    port = Path(os.environ["SHOP_BOOKS"], made.settings.public_key)
    port.write_text(str(server.server_port))
    yield made
    server.shutdown()
    server.server_close()
    made.till.shop.service.close()
    made.books.close()
