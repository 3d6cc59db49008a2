"""`contracts/webhooks.md`: how to receive webhooks, and how to test a receiver."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from simulator.certification.rules import RULES, Rule

VERIFIERS = Path(__file__).with_name("verifiers")
LANGUAGES: Sequence[tuple[str, str, str]] = (
    ("Python", "python", "verify.py"),
    ("JavaScript", "javascript", "verify.mjs"),
    ("PHP", "php", "verify.php"),
    ("Go", "go", "verify.go"),
    ("Java", "java", "Verify.java"),
    ("Ruby", "ruby", "verify.rb"),
)
"""The verifiers: name of the language, language of the code block, file."""

_HEAD = """\
# Receiving webhooks

A receiver does four things, in this order:

1. **Verify** the raw body with both headers. Respond with 401 if it is not genuine.
2. **Store** the event under its id. Ignore an id that is already stored.
3. **Respond** with 200, for every type of event, within 10 seconds. Without a 2xx the event is sent again, for three
   days.
4. **Process** the event afterwards: fetch the object (`GET /transactions/{id}`) and update your books to its current
   status. Events arrive twice, late and out of order.

[events/](events/README.md) has a page for each event. Below is a verifier in six languages.
[webhook-vectors.json](webhook-vectors.json) tests a verifier, `rampsim certify` a whole receiver.

## Verifying

`key` is the webhook key and `body` the raw body, before parsing. `now_ms` is the current Unix time in
milliseconds. In Python, `now_ms` is optional, and `headers` are the headers as your web framework gives them, in upper
or lower case. The other languages take the headers X-Timestamp and X-Signature as `timestamp` and `signature`, or empty
strings if they are missing. The signature is compared in constant time. CI runs each verifier with all vectors. (The Go
code is without its `package` line.)
"""

_VECTORS = """
## Vectors

[webhook-vectors.json](webhook-vectors.json) is
`{key, now_ms, vectors: [{rule, what, headers, body_base64, genuine, reason}]}`. With `key`, the `headers`, the decoded
body and `now_ms` as its clock, a verifier must return `genuine` for each vector. A running simulator serves the file at
`/_simulator/webhook-vectors.json`. In Python, with the verifier above:

```python
import base64
import json

with open("contracts/webhook-vectors.json", "rb") as file:
    data = json.load(file)
for one in data["vectors"]:
    body = base64.b64decode(one["body_base64"])
    assert is_genuine(data["key"], one["headers"], body, data["now_ms"]) is one["genuine"], one["reason"]
```
"""

_CERTIFY = """
## Certifying a receiver

```bash
rampsim certify http://127.0.0.1:5000/webhooks
```

It sends genuine and forged events to the receiver. For each rule below it reports the result: request, response, the
expected response with its clause, and a fix. You do not have to register the receiver.

- **The key.** The receiver verifies with the webhook key `whk_test_simulator`, or with the key of `--webhook-key`.
- **The simulator.** The payments in the events are real payments in the simulator at its default address
  (http://127.0.0.1:8642) or at `--simulator`. If none is running, one is started for the run. So a receiver that
  fetches objects finds them, with the keys that the first lines print. During the run, no scenario of that world is
  active, and some GET calls fail or are slow. Afterwards everything is as before, except for the payments.
- **The clock.** X-Timestamp uses real time, or simulated time if the world has the setting
  `webhook_timestamp: simulated`.
- **Responses.** A genuine request needs a 2xx response, a forged one 4xx. A 5xx does not count as a rejection.
- **One mistake, one rule.** A rule that depends on a failed rule is skipped and reported as skipped.
- `--only RULE` and `--skip RULE` are repeatable; `--json FILE` and `--junit FILE` write reports for programs.
- **Exit codes**: 0 = all rules pass; 1 = a rule fails; 2 = usage error; 3 = the receiver does not respond.

**With the books**, money is checked too. `--books` is a URL or a command that returns a line of JSON for each order (or
CSV with the header `order,state,amount,currency`), a CSV file, a function `MODULE:FUNCTION` that returns dicts or
tuples, or `sqlite:///FILE#SELECT reference, state, amount, currency FROM orders`:

```json
{"order": "invoice-17", "state": "completed", "amount": "37.892536", "currency": "USDC"}
```

`order` is the `reference` of the transaction. `amount` is the amount that the customer received (`destination_amount`),
0 unless the order is completed. The books may take five seconds to become correct. The application learns about the
orders of the run only from events, and creates an order at the first event of its `reference`. If its books contain
only orders that it placed itself, use `--order`: a command that makes the application create an onramp that waits for
its payment, and prints the transaction id. If the books contain no order of the run, the rules that need books are
skipped. `--settle` is a command or function that runs before the books are read: the application's reconciliation job.
All commands run with `SIMULATOR_URL` (the base URL, with `/v1`), `SIMULATOR_PUBLIC_KEY`, `SIMULATOR_SECRET_KEY` and
`SIMULATOR_WEBHOOK_KEY`.

**A correct receiver** is included as an example, in 200 lines of the standard library:

```bash
python -m simulator.certification.receiver --port 5000
rampsim certify http://127.0.0.1:5000/webhooks --books http://127.0.0.1:5000/books
```

In CI, about 40 receivers with one mistake each are found by the rule for that mistake, and by no other rule.

## The rules

"""


def page() -> str:
    blocks = "".join(f"\n### {name}\n\n```{block}\n{_code(file)}\n```\n" for name, block, file in LANGUAGES)
    table = ["| rule | requirement | clause | expected response |", "| - | - | - | - |", *map(_row, RULES)]
    return f"{_HEAD}{blocks}{_VECTORS}{_CERTIFY}" + "\n".join(table) + "\n"


def _code(file: str) -> str:
    return (VERIFIERS / file).read_text("utf-8").strip()


def _row(rule: Rule) -> str:
    judged = " (with `--books`)" if rule.by_books else ""
    return f"| `{rule.name}` | {rule.title}{judged} | {rule.clause} | {rule.wanted} |"
