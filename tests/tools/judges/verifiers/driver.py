import base64
import sys

from verify import is_genuine

key, now_ms = sys.stdin.readline().rstrip("\n").split("\t")
for line in sys.stdin:
    timestamp, signature, body = line.rstrip("\n").split("\t")
    headers = {"X-Timestamp": timestamp, "X-Signature": signature}
    print("true" if is_genuine(key, headers, base64.b64decode(body), int(now_ms)) else "false")  # noqa: T201
