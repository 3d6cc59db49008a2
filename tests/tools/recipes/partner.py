"""A partner's small project: a test that needs the simulator, and a workflow that fails because no simulator is
running.
"""

from __future__ import annotations

from pathlib import Path

FILES = {
    "requirements.txt": "pytest\n",
    "test_ramp.py": """\
import json
import os
from urllib.request import Request, urlopen

ASKED = {"type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES", "method": "mobile_money"}


def call(path, body, token=""):
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    with urlopen(Request(os.environ["SIMULATOR_URL"] + path, json.dumps(body).encode(), headers)) as answer:
        return json.load(answer)


def test_a_quote_is_made():
    keys = {"public_key": "pk_test_simulator", "secret_key": "sk_test_simulator"}
    token = call("/v1/auth/token", keys)["access_token"]
    quote = call("/v1/quotes", {**ASKED, "amount": "5000", "amount_currency": "KES"}, token)
    assert quote["status"] == "active"
""",
    ".github/workflows/tests.yml": """\
on: [push]
jobs:
  tests:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: python -m pip install -r requirements.txt
      - run: python -m pytest
""",
    ".gitlab-ci.yml": """\
tests:
  image: python:3.12
  script:
    - python -m pip install -r requirements.txt
    - python -m pytest
""",
}


def project(directory: Path) -> Path:
    """Write it down; its directory."""
    for name, text in FILES.items():
        path = directory / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return directory / "project"
