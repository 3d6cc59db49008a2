"""Files of control tokens: valid ones, and errors with their paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.engine.control.token_files import BadTokens, tokens_of

LONG = "0123456789abcdef"
GOOD = f"tokens:\n  - {{name: ci, token: {LONG}, worlds: ci-}}\n"


def problems(path: Path, text: str) -> list[str]:
    path.write_text(text)
    with pytest.raises(BadTokens) as caught:
        tokens_of(None, path)
    return [problem.removeprefix(f"{path}: ") for problem in caught.value.problems]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tokens.yaml"


def test_a_token_reaches_the_worlds_of_its_prefix(path: Path) -> None:
    path.write_text(GOOD + "  - {name: ops, token: ops-0123456789abcdef, worlds: '*'}\n")
    tokens, known = tokens_of("flag", path)
    assert tokens is not None
    assert known == ["flag", LONG, "ops-0123456789abcdef"]
    reached = {
        text: [world for world in ("ci-1", "ci", "cia-1", "default") if access.reaches(world)]
        for text in known
        if (access := tokens.access_of(text)) is not None
    }
    everything = ["ci-1", "ci", "cia-1", "default"]
    assert reached == {"flag": everything, LONG: ["ci-1"], "ops-0123456789abcdef": everything}
    assert tokens.access_of("") is tokens.access_of(LONG[:-1]) is None


def test_without_a_token_none_is_asked_for() -> None:
    assert tokens_of(None, None) == (None, [])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ["the file: it must be an object"]),
        ("tokens: [", ["it must be YAML or JSON"]),
        ("tokens: []", ["tokens: it must not be empty"]),
        (GOOD.replace("ci-}", "ci}"), ["tokens[0].worlds: it must be '*', or a prefix of world ids"]),
        (GOOD.replace(LONG, "short"), ["tokens[0].token: it must be at least 16 printable characters"]),
        (
            GOOD.replace(f"token: {LONG}", "sha256: abc"),
            ["tokens[0].sha256: it must be a SHA-256 hash"],
        ),
        (GOOD.replace("ci-}", "ci-, most_worlds: 0}"), ["tokens[0].most_worlds: "]),
        (GOOD.replace(f"token: {LONG}, ", ""), ["tokens[0]: it must have exactly one of `token` and `sha256`"]),
        (GOOD.replace("worlds", "world"), ["tokens[0].worlds: ", "tokens[0].world: "]),
        (GOOD + GOOD.removeprefix("tokens:\n").replace(LONG, LONG * 2), ["two tokens have the name 'ci'"]),
    ],
)
def test_problems_are_reported_with_their_location(path: Path, text: str, said: list[str]) -> None:
    found = problems(path, text)
    assert len(found) == len(said)
    for problem, beginning in zip(found, said, strict=True):
        assert problem.startswith(beginning)
        assert LONG not in problem


def test_one_token_for_two_is_refused(path: Path) -> None:
    (problem,) = problems(path, GOOD + GOOD.removeprefix("tokens:\n").replace("name: ci", "name: other"))
    assert problem == "two control tokens are equal; give each name a separate token"


def test_a_missing_file_is_reported_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(BadTokens, match=r"nowhere.* cannot be read: No such file"):
        tokens_of(None, tmp_path / "nowhere")
