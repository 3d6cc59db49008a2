"""Kernel and engine contain no noun of the ramp. Tools that contain one are listed here, and the list may only shrink.

`python -m tests.nouns` prints the lines in kernel and engine. With a path, it prints the lines below that path.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from simulator.engine import webhooks
from simulator.host import PROVIDER
from simulator.service import TOKEN_EXCHANGE
from tests import nouns
from tests.measures import sources
from tests.nouns import found_below, found_in, paths_in, words
from tests.places import ROOT

pytestmark = pytest.mark.xdist_group("source")  # its modules are parsed once

TOOLS: Mapping[str, tuple[int, str]] = {
    "simulator/agents/inputs.py": (
        4,
        "descriptions of arguments, which show an agent a path, an action and a parameter",
    ),
    "simulator/agents/serving.py": (1, "the title of the server"),
    "simulator/agents/session.py": (1, "the environment of a tool call that names none"),
    "simulator/agents/toolbox.py": (1, "descriptions of tools: an agent reads there what is simulated"),
    "simulator/agents/tools.py": (3, "a refusal that shows a path, and the environment of the first keys"),
    "simulator/certification/receiver.py": (2, "an example: an application that receives webhooks of the service"),
    "simulator/certification/rules.py": (
        5,
        "advice to people whose receiver breaks a rule",
    ),
    "simulator/certification/sources.py": (1, "an example of a line of books"),
    "simulator/cli/remote.py": (1, "the choices of --environment"),
    "simulator/cli/server/settings.py": (1, "the help of --environment"),
    "simulator/cli/tools/certifying.py": (1, "the help of --order"),
    "simulator/cli/tools/probing.py": (7, "published choices of --spend, and the environment that a file names"),
    "simulator/cli/worlds/worlds.py": (1, "the keys that a made world prints"),
    "simulator/docs/llms.py": (1, "the page for language models says what the reference data are"),
    "simulator/evidence/facts.py": (1, "the environment that an observed file names"),
    "simulator/host.py": (1, "the composition root names the provider"),
    "simulator/service.py": (4, "the composition root names the provider"),
    "simulator/testing/faults.py": (2, "refusals that show how calls are written"),
    "simulator/testing/plugin/__init__.py": (1, "the title of the options"),
    "simulator/testing/plugin/markers.py": (1, "a refusal that shows the name of a scenario"),
    "simulator/testing/receiving/registration.py": (1, "published names of the kit: `world.production`"),
    "simulator/testing/receiving/receivers.py": (1, "published names of the kit: `environment=`"),
    "simulator/testing/reading.py": (4, "published names of the kit: `production_keys`, `production_url`"),
    "simulator/testing/worlds.py": (6, "published names of the kit: `production`, `token(environment)`"),
}
"""Lines of tools that stay, by file, each with the reason."""

MOST_OF_TOOLS = 60

SAMPLES = {"simulator/certification/receiver.py"}
"""Sample applications of an integrator. They import nothing from the simulator."""


def _counted() -> Counter[str]:
    found = found_below("simulator/")
    return Counter(line.path for line in found if not line.path.startswith("simulator/providers/"))


def test_no_file_has_other_nouns_of_the_ramp_than_the_list_says() -> None:
    allowed = Counter({path: count for path, (count, _) in TOOLS.items()})
    assert _counted() == allowed, "python -m tests.nouns PATH shows the lines"


def test_few_tools_contain_nouns_and_each_file_says_why() -> None:
    assert sum(count for count, _ in TOOLS.values()) <= MOST_OF_TOOLS
    assert all(reason for _, reason in TOOLS.values())
    assert [path for path in TOOLS if path.startswith(("simulator/kernel/", "simulator/engine/"))] == []


def _provider_paths() -> set[str]:
    """The first segments of the provider's own paths, such as `/transactions`."""
    rooms = [room for room in PROVIDER.rooms if room is not webhooks.ROOM]
    return {f"/{row.path.split('/')[1]}" for room in rooms for row in room.operations}


def test_kernel_and_engine_spell_no_path_of_the_provider() -> None:
    paths = _provider_paths()
    assert {"/transactions", "/orders", "/auth"} <= paths
    below = ("simulator/kernel/", "simulator/engine/")
    modules = [path for path in sources() if path.relative_to(ROOT).as_posix().startswith(below)]
    assert [line for path in modules for line in paths_in(path, paths)] == []


def test_tools_take_the_token_request_from_the_provider() -> None:
    tools = [path for path in sources() if "simulator/providers/" not in path.as_posix()]
    found = {line.partition(":")[0] for path in tools for line in paths_in(path, [TOKEN_EXCHANGE.path])}
    assert found == SAMPLES


def test_a_path_in_a_literal_is_found_and_in_a_docstring_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ('"""GET /orders."""', 'X = f"/orders/{1}"', 'Y = "GET /orders"', 'Z = "/orders_of"', 'A = "x/orders"')
    (tmp_path / "one.py").write_text("\n".join(lines))
    monkeypatch.setattr(nouns, "ROOT", tmp_path)
    assert paths_in(tmp_path / "one.py", ["/orders"]) == ["one.py:2", "one.py:3"]


def test_tests_of_the_engine_and_their_toy_have_no_noun() -> None:
    folders = ROOT / "tests" / "unit" / "engine", ROOT / "tests" / "toy"
    helpers = ROOT / "tests" / "library.py", ROOT / "tests" / "calls.py"
    paths = sorted({*helpers, *(path for folder in folders for path in folder.rglob("*.py"))})
    assert len(paths) > 80
    assert [f"{line.path}:{line.line} {sorted(line.nouns)}" for path in paths for line in found_in(path)] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("create_quote", ["quote"]),
        ("CreateQuote", ["quote"]),
        ("QUOTE_FEES", ["quote", "fee"]),
        ("/v1/wallet/assets", ["wallet"]),
        ("USDC of a KYCStatus", ["usdc", "kyc"]),
        ("rampsim", []),
        ("unquoted", []),
        ("write it in quotes", []),
        ("beneficiaries", ["beneficiaries"]),
    ],
)
def test_a_name_is_split_into_its_words(text: str, expected: list[str]) -> None:
    assert list(words(text)) == expected


def test_comments_docstrings_and_names_from_outside_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (
        '"""A quote."""',
        "import shlex  # no payout",
        "from urllib.parse import quote",
        "X = quote(shlex.quote(''))",
        '"""A deposit."""',
        "Y = f'{quote(X)} {shlex.quote(X)} a fee'",
        'Z = """',
        'a wallet"""',
    )
    (tmp_path / "one.py").write_text("\n".join(lines))
    monkeypatch.setattr(nouns, "ROOT", tmp_path)
    found = {line.line: set(line.nouns) for line in found_in(tmp_path / "one.py")}
    assert found == {6: {"fee"}, 8: {"wallet"}}
