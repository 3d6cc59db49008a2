"""The careful shop and the careless shop at the addresses that an exhaustive run needs."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from simulator.engine.server.process import open_socket
from tests.tools.integrators.shop.app import Till, create_app
from tests.tools.integrators.shop.careless import careless
from tests.tools.integrators.shop.settings import Settings
from tests.tools.integrators.test_commands import ORDER


class Extra:
    """GET /books, POST /settle, and POST /make, which makes an order and returns its transaction's id."""

    def __init__(self, till: Till) -> None:
        self.till, self.made = till, 0

    async def books(self, request: Request) -> Response:
        shop = self.till.shop
        lines = [json.dumps(shop.books.shown(order)) for order in await run_in_threadpool(shop.books.orders)]
        return PlainTextResponse("\n".join(lines))

    async def settle(self, request: Request) -> Response:
        await run_in_threadpool(self.till.shop.reconcile)
        return Response()

    async def make(self, request: Request) -> Response:
        self.made += 1
        wanted = {**ORDER, "amount": "5000"}
        if request.path_params["kind"] == "offramp":
            wanted |= {"amount": "30", "amount_currency": "USDC"}
        order = await run_in_threadpool(self.till.shop.order, f"E-{self.made:04}", request.path_params["kind"], wanted)
        return PlainTextResponse(order.transaction_id or f"no transaction: {order}")


@contextmanager
def serving_shop(keys: Mapping[str, str], file: Path, *mistakes: str) -> Iterator[str]:
    """Serve a shop in a thread and yield its origin."""
    settings = Settings(
        keys["base_url"], keys["public_key"], keys["secret_key"], keys["webhook_key"], str(file), sleep=lambda _: None
    )
    till = careless(*mistakes).open(settings)
    till.shop.books._do("PRAGMA synchronous = OFF")  # commits that wait for a slow disk take most of the time
    app, extra = create_app(till), Extra(till)
    app.router.routes += [
        Route("/books", extra.books),
        Route("/settle", extra.settle, methods=["POST"]),
        Route("/make/{kind}", extra.make, methods=["POST"]),
    ]
    with open_socket("127.0.0.1", 0) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
        thread = threading.Thread(target=lambda: server.run([listener]))
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
            till.shop.books.close()
            till.shop.service.close()


def ordering(app: str) -> str:
    """Return the command that makes an order and prints its transaction's id."""
    making = f"print(r.urlopen(r.Request('{app}/make/' + kind, b'')).read().decode())"
    script = f"import os, urllib.request as r; kind = os.environ['SIMULATOR_ORDER_KIND']; {making}"
    return f'{sys.executable} -S -c "{script}"'
