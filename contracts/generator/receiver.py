import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from typing import Any

FIVE_MINUTES_MS = 5 * 60 * 1000


def receive(headers: Mapping[str, str], body: bytes, key: str, now_ms: int) -> Any:
    """The event of a genuine request; ValueError for any other. `body`: the bytes as they came."""
    headers = {name.lower(): value for name, value in headers.items()}
    timestamp, signature = headers.get("x-timestamp", ""), headers.get("x-signature", "")
    if not re.fullmatch("[0-9]{1,15}", timestamp) or abs(now_ms - int(timestamp)) > FIVE_MINUTES_MS:
        raise ValueError("not sent just now")
    expected = hmac.new(key.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected.encode(), signature.encode()):
        raise ValueError("not signed with this key")
    return json.loads(body)
