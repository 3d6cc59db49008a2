"""A minimal application: it registers a webhook with its service name and prints genuine events.

To use your own application, replace this file. The environment variables are RAMP_URL, RAMP_PUBLIC_KEY,
RAMP_SECRET_KEY, RAMP_WEBHOOK_KEY and WEBHOOK_URL.
"""

import hashlib
import hmac
import json
import os
import re
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


def is_genuine(key: str, headers: Mapping[str, str], body: bytes, now_ms: float | None = None) -> bool:
    headers = {name.lower(): value for name, value in headers.items()}
    timestamp, signature = headers.get("x-timestamp", ""), headers.get("x-signature", "")
    now_ms = time.time() * 1000 if now_ms is None else now_ms
    if not re.fullmatch("[0-9]{1,15}", timestamp) or abs(now_ms - int(timestamp)) > 300_000:
        return False
    expected = hmac.new(key.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())


class Webhooks(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        genuine = is_genuine(os.environ["RAMP_WEBHOOK_KEY"], self.headers, body)
        self.send_response(200 if genuine else 401)
        self.end_headers()
        if genuine:
            sys.stdout.write(f"{json.loads(body)['type']}\n")

    def log_message(self, *args: object) -> None:
        pass


def call(path: str, body: dict[str, object], token: str = "") -> dict[str, str]:
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    request = urllib.request.Request(os.environ["RAMP_URL"] + path, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as refusal:
        sys.exit(f"{path} was refused: {refusal.read().decode()}")


def main() -> None:
    url = os.environ["WEBHOOK_URL"]
    server = ThreadingHTTPServer(("0.0.0.0", urlsplit(url).port or 80), Webhooks)
    threading.Thread(target=server.serve_forever, daemon=True).start()  # the registration sends a test request
    keys = {"public_key": os.environ["RAMP_PUBLIC_KEY"], "secret_key": os.environ["RAMP_SECRET_KEY"]}
    token = call("/auth/token", keys)["access_token"]
    call("/webhooks", {"url": url, "events": ["*"]}, token)
    sys.stdout.write(f"webhooks go to {url}\n")
    threading.Event().wait()


if __name__ == "__main__":
    main()
