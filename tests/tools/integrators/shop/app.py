"""The shop over HTTP: customers place orders, and the service delivers events."""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.tools.integrators.shop.books import Books, Order
from tests.tools.integrators.shop.service import Refused, Service, Unknown
from tests.tools.integrators.shop.settings import Settings
from tests.tools.integrators.shop.shop import Shop

FIVE_MINUTES_MS = 300_000


def is_genuine(key: str, headers: Mapping[str, str], body: bytes, now_ms: float | None = None) -> bool:
    """Whether a delivery comes from the service, by the bytes as they came in, and is at most five minutes old."""
    headers = {name.lower(): value for name, value in headers.items()}
    timestamp, signature = headers.get("x-timestamp", ""), headers.get("x-signature", "")
    now_ms = time.time() * 1000 if now_ms is None else now_ms
    if not re.fullmatch("[0-9]{1,15}", timestamp) or abs(now_ms - int(timestamp)) > FIVE_MINUTES_MS:
        return False
    expected = hmac.new(key.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())


class Till:
    """The handlers. What they do takes time, so it is done in threads."""

    def __init__(self, settings: Settings, shop: Shop) -> None:
        self.settings = settings
        self.shop = shop

    async def new_order(self, request: Request) -> Response:
        """POST /orders: buy or sell; the phone number pays (kind `onramp`) or is paid (`offramp`)."""
        wanted = await _wanted(request, "kind", "wallet_address")
        reference, kind = wanted.pop("reference"), wanted.pop("kind")
        return await self._answer(lambda: self._shown(self.shop.order(reference, kind, wanted)))

    async def order(self, request: Request) -> Response:
        """GET /orders/{reference}"""
        return await self._answer(lambda: self._shown(self.shop.books.order(request.path_params["reference"])))

    async def new_attempt(self, request: Request) -> Response:
        """POST /orders/{reference}/attempts: the customer tries again what came to nothing."""
        return await self._answer(lambda: self._shown(self.shop.try_again(request.path_params["reference"])))

    async def new_payout(self, request: Request) -> Response:
        """POST /payouts: pay somebody every month."""
        wanted = await _wanted(request, "day_of_month", "start_date", "times")
        reference = wanted.pop("reference")

        def set_up() -> dict[str, str]:
            payout = self.shop.standing_payout(reference, wanted)
            return {"reference": payout.reference, "state": payout.state}

        return await self._answer(set_up)

    async def webhook(self, request: Request) -> Response:
        """POST /webhooks: the service tells of something; 200 says that it is stored."""
        raw = await request.body()
        if not self.is_genuine(request.headers, raw):
            return Response(status_code=401)
        await run_in_threadpool(self.shop.told, raw)
        return Response()

    def is_genuine(self, headers: Mapping[str, str], raw: bytes) -> bool:
        return is_genuine(self.settings.webhook_key, headers, raw, self.settings.now() * 1000)

    def _shown(self, order: Order) -> dict[str, str]:
        return self.shop.books.shown(order)

    async def _answer(self, work: Callable[[], dict[str, str]]) -> Response:
        try:
            return JSONResponse(await run_in_threadpool(work))
        except KeyError as missing:
            return JSONResponse({"error": f"There is no {missing}."}, 404)
        except Refused as refusal:
            return JSONResponse({"error": str(refusal)}, 422)
        except Unknown as trouble:
            return JSONResponse({"error": f"Not known yet, ask for it again later: {trouble}"}, 503)


async def _wanted(request: Request, *more: str) -> dict[str, Any]:
    """Return the fields of the body. Respond with 400 if one is missing."""
    wanted = await request.json()
    names = ("reference", "amount", "amount_currency", "asset", "fiat_currency", "name", "phone_number", *more)
    missing = [name for name in names if name not in wanted]
    if missing:
        raise HTTPException(400, f"Say {', '.join(missing)}.")
    if len(wanted["reference"]) < 2:
        raise HTTPException(400, "A reference of one character cannot be searched for: give it two.")
    return dict(wanted)


@dataclass(frozen=True)
class Parts:
    """The parts of a shop."""

    service: type[Service] = Service
    shop: type[Shop] = Shop
    till: type[Till] = Till

    def open(self, settings: Settings, transport: httpx.BaseTransport | None = None) -> Till:
        """A shop at work; `transport` carries its calls where they do not go over the network."""
        shop = self.shop(Books(settings.books), self.service(settings, transport))
        return self.till(settings, shop)


def create_app(till: Till) -> Starlette:
    """The shop as an ASGI application."""
    return Starlette(
        routes=[
            Route("/orders", till.new_order, methods=["POST"]),
            Route("/orders/{reference}", till.order),
            Route("/orders/{reference}/attempts", till.new_attempt, methods=["POST"]),
            Route("/payouts", till.new_payout, methods=["POST"]),
            Route("/webhooks", till.webhook, methods=["POST"]),
        ]
    )
