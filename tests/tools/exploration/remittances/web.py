"""What the API and customers reach over HTTP."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Mapping

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.tools.exploration.remittances.desk import Desk

MAXIMUM_AGE_MS = 300_000


class Web:
    """The handlers."""

    def __init__(self, desk: Desk, webhook_key: str) -> None:
        self.desk = desk
        self.webhook_key = webhook_key

    async def new_transfer(self, request: Request) -> Response:
        wanted = await request.json()
        await run_in_threadpool(self.desk.send, wanted.pop("reference"), wanted)
        return JSONResponse({}, 202)

    async def webhook(self, request: Request) -> Response:
        body = await request.body()
        if not self.is_genuine(request.headers, body):
            return Response(status_code=401)
        await run_in_threadpool(self.desk.notified, json.loads(body))
        return Response()

    def is_genuine(self, headers: Mapping[str, str], body: bytes) -> bool:
        stamp = headers.get("x-timestamp", "")
        if not stamp.isdecimal() or not self.is_recent(int(stamp)):
            return False
        expected = hmac.digest(self.webhook_key.encode(), stamp.encode() + b"." + body, hashlib.sha256).hex()
        return hmac.compare_digest(expected.encode(), headers.get("x-signature", "").encode())

    def is_recent(self, stamp_ms: int) -> bool:
        return abs(self.now_ms() - stamp_ms) <= MAXIMUM_AGE_MS

    def now_ms(self) -> float:
        return time.time() * 1000

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/transfers", self.new_transfer, methods=["POST"]),
                Route("/webhooks", self.webhook, methods=["POST"]),
            ]
        )
