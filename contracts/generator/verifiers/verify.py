import hashlib
import hmac
import re


def is_genuine(key: str, timestamp: str, signature: str, body: bytes, now_ms: int) -> bool:
    if not re.fullmatch("[0-9]{1,15}", timestamp) or abs(now_ms - int(timestamp)) > 300_000:
        return False
    expected = hmac.new(key.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())
