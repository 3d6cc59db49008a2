import hashlib
import hmac
import re
import time
from collections.abc import Mapping


def is_genuine(key: str, headers: Mapping[str, str], body: bytes, now_ms: float | None = None) -> bool:
    headers = {name.lower(): value for name, value in headers.items()}
    timestamp, signature = headers.get("x-timestamp", ""), headers.get("x-signature", "")
    now_ms = time.time() * 1000 if now_ms is None else now_ms
    if not re.fullmatch("[0-9]{1,15}", timestamp) or abs(now_ms - int(timestamp)) > 300_000:
        return False
    expected = hmac.new(key.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())
