"""The bare twin: a small application with the same stack as the simulator that does the minimum for such a service.

It looks up a token in a dict, validates the quote with pydantic, stores it in a dict, and responds with orjson. The
difference in cost is the cost of the simulation.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

import orjson
import uvicorn
import uvloop
from pydantic import BaseModel, StringConstraints, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

AmountText = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,18}(\.[0-9]{1,8})?$")]


class QuoteBody(BaseModel):
    type: Literal["onramp", "offramp"]
    network: Literal["stellar", "celo"]
    asset: Literal["XLM", "CELO", "USDT", "USDC", "CUSD"]
    fiat_currency: Literal["KES", "TZS", "NGN", "ZAR", "ZMW"]
    amount: AmountText
    amount_currency: str
    method: Literal["mobile_money", "bank_transfer"]


TOKENS: dict[str, str] = {}
QUOTES: dict[str, dict[str, Any]] = {}
RATE = Decimal("129.35")


def _json(value: object, status: int = 200) -> Response:
    return Response(orjson.dumps(value), status, media_type="application/json")


def _error(status: int, code: str) -> Response:
    return _json({"error": {"code": code, "message": code}}, status)


async def token(request: Request) -> Response:
    body = orjson.loads(await request.body())
    text = secrets.token_hex(16)
    TOKENS[text] = body["public_key"]
    return _json({"access_token": text, "token_type": "Bearer", "expires_in": 3600})


def _caller(request: Request) -> str | None:
    return TOKENS.get(request.headers.get("authorization", "").removeprefix("Bearer "))


async def create(request: Request) -> Response:
    if _caller(request) is None:
        return _error(401, "unauthorized")
    try:
        body = QuoteBody.model_validate_json(await request.body())
    except ValidationError:
        return _error(400, "invalid_request")
    now = datetime.now(UTC)
    quote = {
        "id": f"qt_{secrets.token_hex(10)}",
        **body.model_dump(exclude={"amount", "amount_currency"}),
        "rate": str(RATE),
        "source_amount": body.amount,
        "source_currency": body.amount_currency,
        "fee": {"total": "50.00", "currency": "KES", "processing_fee": "50.00", "network_fee": "0.00"},
        "destination_amount": str(round((Decimal(body.amount) - 50) / RATE, 6)),
        "destination_currency": body.asset,
        "status": "active",
        "created_at": now.isoformat(),
        "expires_at": (now + timedelta(minutes=30)).isoformat(),
    }
    QUOTES[quote["id"]] = quote
    return _json(quote, 201)


async def read(request: Request) -> Response:
    if _caller(request) is None:
        return _error(401, "unauthorized")
    quote = QUOTES.get(request.path_params["id"])
    return _error(404, "not_found") if quote is None else _json(quote)


APPLICATION = Starlette(
    routes=[
        Route("/v1/auth/token", token, methods=["POST"]),
        Route("/v1/quotes", create, methods=["POST"]),
        Route("/v1/quotes/{id}", read),
    ]
)


async def _serve() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        APPLICATION, loop="uvloop", http="httptools", log_level="warning", access_log=False, timeout_keep_alive=3600
    )
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started:
        await asyncio.sleep(0.005)
    print(f"Ready on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)  # noqa: T201
    await task


if __name__ == "__main__":
    uvloop.run(_serve())
