"""`contracts/webhooks.md`: how to receive webhooks, and how to find out whether a receiver does."""

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
"""The verifiers: name of the language, that of its code block, file."""

_HEAD = """\
# Receiving webhooks

A receiver has four things to do, in this order:

1. **Verify** the raw body with both headers, and answer 401 when it is not genuine.
2. **Store** the event under its id. One that is there already changes nothing.
3. **Answer** 200, whatever the event is. There are 10 seconds, and what is not answered 2xx comes again for three days.
4. **Work** afterwards: read the object anew (`GET /transactions/{id}`) and bring your books to the state it has now.
   Events come twice, late and out of order.

[events/](events/README.md) has a page for each event. What a verifier must do is here in six languages, and
[webhook-vectors.json](webhook-vectors.json) tries one. `rampsim certify` tries the whole receiver.

## Verifying

`timestamp` and `signature` are the headers X-Timestamp and X-Signature, empty where they are missing; `body` is the
bytes as they came, before any parser had them. The comparison takes the same time whatever differs. Each of these runs
against all vectors in CI. (The Go code stands below its `package` line.)
"""

_VECTORS = """
## Vectors

[webhook-vectors.json](webhook-vectors.json) is `{key, now_ms, vectors: [{rule, what, headers, body_base64, genuine,
reason}]}`. A verifier that is given `key`, the `headers`, the decoded body and `now_ms` as its clock says `genuine` of
each. A running simulator serves the file at `/_simulator/webhook-vectors.json`. In Python, with the verifier above:

```python
import base64
import json

with open("contracts/webhook-vectors.json", "rb") as file:
    told = json.load(file)
for one in told["vectors"]:
    timestamp, signature = (one["headers"].get(name, "") for name in ("X-Timestamp", "X-Signature"))
    body = base64.b64decode(one["body_base64"])
    assert is_genuine(told["key"], timestamp, signature, body, told["now_ms"]) is one["genuine"], one["reason"]
```
"""

_CERTIFY = """
## Certifying a receiver

```bash
rampsim certify http://127.0.0.1:5000/webhooks
```

It sends the receiver events exactly as the service does, and forgeries, and says of each rule below whether it holds:
what was sent, what came back, what is wanted by which clause, and how to mend it. Nothing needs to be registered.

- **The key.** The receiver verifies with the webhook key `whk_test_simulator`, or with that of `--webhook-key`.
- **The simulator.** The payments that the events tell of truly happen, in the simulator at its usual address
  (http://127.0.0.1:8642) or at `--simulator`. Where none runs, one is started there for the length of the run. So a
  receiver that reads objects anew finds them, with the keys that the first lines print. While it runs, no scenario of
  that world acts, and for moments its GET calls fail or are slow; afterwards all is as before, but for the payments.
- **The clock.** X-Timestamp is the wall clock; the simulated one, where the world has the setting
  `webhook_timestamp: simulated`.
- **Answers.** What is genuine has to be answered 2xx, what is forged 4xx. A 5xx is no refusal.
- **One fault, one rule.** A rule that would say nothing because another does not hold is skipped, and says so.
- `--only RULE` and `--skip RULE`, each repeatable; `--json FILE` and `--junit FILE` for programs.
- **Exit codes**: 0 every rule holds, 1 one does not, 2 wrong usage, 3 nothing answers.

**With the books**, money is judged too. `--books` is a URL, or a command, that gives a line of JSON for each order (or
CSV with the header `order,state,amount,currency`), a file of CSV, a function `MODULE:FUNCTION` that returns dicts or
tuples, or `sqlite:///FILE#SELECT reference, state, amount, currency FROM orders`:

```json
{"order": "invoice-17", "state": "completed", "amount": "37.892536", "currency": "USDC"}
```

`order` is the `reference` of the transaction, `amount` what the customer received (`destination_amount`), 0 unless it
is completed. The books may take five seconds to come right. The application hears of the orders of an examination from
their events alone, and makes an order when the first event of its `reference` comes. One that books only what it
ordered itself is given `--order`: a command that has it make an order, an onramp that waits for its payment, and prints
the id of the transaction. Where the books show no order of the examination, the rules that only books can judge are
skipped. `--settle` is a command, or a function, that runs before the books are read: the job by which the application
picks up what it has missed. All commands run with `SIMULATOR_URL` (the base URL, with `/v1`), `SIMULATOR_PUBLIC_KEY`,
`SIMULATOR_SECRET_KEY` and `SIMULATOR_WEBHOOK_KEY`.

**A receiver that does everything right** ships, in 200 lines of the standard library, to be read and to compare with:

```bash
python -m simulator.certification.receiver --port 5000
rampsim certify http://127.0.0.1:5000/webhooks --books http://127.0.0.1:5000/books
```

In CI about 40 receivers that are wrong in one thing each are caught by the rule for it, and by no other.

## The rules

"""


def page() -> str:
    """The page, its verifiers and rules taken from where they are."""
    blocks = "".join(f"\n### {name}\n\n```{block}\n{_code(file)}\n```\n" for name, block, file in LANGUAGES)
    table = ["| rule | what holds | by | wanted |", "| - | - | - | - |", *map(_row, RULES)]
    return f"{_HEAD}{blocks}{_VECTORS}{_CERTIFY}" + "\n".join(table) + "\n"


def _code(file: str) -> str:
    return (VERIFIERS / file).read_text("utf-8").strip()


def _row(rule: Rule) -> str:
    judged = " (with `--books`)" if rule.by_books else ""
    return f"| `{rule.name}` | {rule.title}{judged} | {rule.clause} | {rule.wanted} |"
