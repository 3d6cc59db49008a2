"""The verifiers in `contracts/webhooks.md`, run unchanged with `contracts/webhook-vectors.json`."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import orjson
import pytest

from contracts.generator.webhooks_page import LANGUAGES
from tests.tools.judges import tools

DRIVERS = tools.HERE / "verifiers"
PAGE = tools.CONTRACTS / "webhooks.md"
COMMANDS = {
    "Python": ([sys.executable, "driver.py"],),
    "JavaScript": (["node", "driver.mjs"],),
    "PHP": (["php", "driver.php"],),
    "Go": (["go", "run", "verify.go", "driver.go"],),
    "Java": (["javac", "Verify.java", "Driver.java"], ["java", "Driver"]),
    "Ruby": (["ruby", "driver.rb"],),
}
"""The commands to run in order. The last one gets the vectors on standard input."""


def on_the_page(language: str) -> str:
    """The code below the heading of a language."""
    found = re.search(rf"^### {language}\n\n```\w+\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert found is not None, f"{PAGE.name} has no verifier in {language}"
    return found[1]


@pytest.mark.parametrize(("language", "file"), [(name, file) for name, _, file in LANGUAGES])
def test_a_verifier_of_the_page_gives_the_verdict_of_every_vector(language: str, file: str, tmp_path: Path) -> None:
    commands = COMMANDS[language]
    lacking = [name for name, *_ in commands if shutil.which(name, path=tools.environment()["PATH"]) is None]
    if lacking:
        pytest.skip(f"{' and '.join(lacking)} not found: `xargs apt-get install < tests/tools/judges/debian.txt`")
    code = on_the_page(language)
    assert len(code.splitlines()) <= 15
    (tmp_path / file).write_text(f"package main\n\n{code}" if language == "Go" else code)
    driver = next(path for path in DRIVERS.iterdir() if path.suffix == Path(file).suffix)
    shutil.copy(driver, tmp_path)
    told = orjson.loads((tools.CONTRACTS / "webhook-vectors.json").read_bytes())
    rows = [
        "\t".join([*(one["headers"].get(name, "") for name in ("X-Timestamp", "X-Signature")), one["body_base64"]])
        for one in told["vectors"]
    ]
    given = "\n".join([f"{told['key']}\t{told['now_ms']}", *rows, ""])
    for command in commands:
        done = tools.run(*command, cwd=tmp_path, given=given, GO111MODULE="off")
        assert done.returncode == 0, done.stdout
    said = [line == "true" for line in done.stdout.splitlines()]
    wrong = [
        f"{one['rule']}: {one['what']}"
        for one, own in zip(told["vectors"], said, strict=True)
        if own is not one["genuine"]
    ]
    assert wrong == []
