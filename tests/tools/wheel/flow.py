"""A flow with an installed simulator, run by the Python of a bare environment, in a directory outside the checkout.

It needs only the standard library and the command `rampsim` next to its interpreter.
"""

from __future__ import annotations

import hashlib
import hmac
import importlib.metadata
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

RAMPSIM = str(Path(sys.executable).parent / "rampsim")


def call(method: str, url: str, body: Any = None, token: str = "") -> Any:
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(url, data, headers, method=method), timeout=20) as answer:
        return json.loads(answer.read() or b"null")


def said(*words: str) -> str:
    """Return a command's output. Raises CalledProcessError if its exit code is not 0."""
    return subprocess.run([RAMPSIM, *words], check=True, capture_output=True, text=True, timeout=60).stdout


def onramp(origin: str) -> None:
    """An onramp by the sandbox's well-known keys, and its signed webhooks in a built-in inbox."""
    base, control = f"{origin}/v1", f"{origin}/_simulator"
    pair = {"public_key": "pk_test_simulator", "secret_key": "sk_test_simulator"}
    token = call("POST", f"{base}/auth/token", pair)["access_token"]
    call("POST", f"{base}/webhooks", {"url": f"{control}/inbox/wheel", "events": ["*"]}, token)
    asked = {"type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES"}
    asked |= {"amount": "5000", "amount_currency": "KES", "method": "mobile_money"}
    quote = call("POST", f"{base}/quotes", asked, token)
    confirmed = {
        "wallet_address": "0x52908400098527886E0F7030069857D2E4169EE7",
        "payer": {"phone_number": "+254712345678"},
    }
    transaction = call("POST", f"{base}/quotes/{quote['id']}/confirm", confirmed, token)
    goal = {"until": {"resource": transaction["id"], "status": "completed"}}
    assert call("POST", f"{control}/clock/advance", goal)["reached"] is True
    received = call("GET", f"{control}/inbox/wheel")["data"]
    types = [json.loads(message["body"])["type"] for message in received]
    assert types[-1] == "transaction.completed", types
    for message in received:
        signed = message["headers"]["x-timestamp"].encode() + b"." + message["body"].encode()
        signature = hmac.new(b"whk_test_simulator", signed, hashlib.sha256).hexdigest()
        assert signature == message["headers"]["x-signature"], message
    assert b'openapi: "3' in urlopen(f"{control}/openapi.yaml", timeout=20).read(200)
    for page in ("dashboard", "docs/", "docs/how-to/ci", "docs/recipes/compose/compose.yaml"):
        assert len(urlopen(f"{control}/{page}", timeout=20).read()) > 500, page


def main() -> None:
    assert importlib.metadata.version("rampsim") in said("--version")
    assert "autopilot" in said("scenario", "list")
    assert "Passed" in said("scenario", "run", "payout-fails-and-refunds")
    with tempfile.TemporaryDirectory() as project:
        for recipe in ("github-action", "typescript"):
            assert "Written" in said("recipe", "write", recipe, "--to", project)
        assert Path(project, "rampsim-client", "lib", "vitest.js").exists()
    server = subprocess.Popen(
        [RAMPSIM, "serve", "--port", "0", "--clock", "manual"], stdout=subprocess.PIPE, text=True
    )  # fmt: skip
    try:
        lines = server.stdout or ()
        origin = next(line.split()[-1] for line in lines if line.startswith("Ready on "))
        onramp(origin)
    finally:
        server.terminate()
        assert server.wait(10) == 0
    sys.stdout.write("The installed wheel serves, plays and signs.\n")


if __name__ == "__main__":
    main()
