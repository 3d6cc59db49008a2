"""Promises about the code in this folder: it is short, and the careful shop does not import its mistakes."""

from __future__ import annotations

import ast
from pathlib import Path

HERE = Path(__file__).parent
MISTAKES = ("careless.py", "seeded.py")
SHOP = sorted(path for path in (HERE / "shop").glob("*.py") if path.name not in MISTAKES)


def test_the_first_tests_have_eight_lines_at_most() -> None:
    tree = ast.parse((HERE / "test_newcomer.py").read_text("utf-8"))
    tests = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert len(tests) == 8
    for test in tests:
        begin = min([test.lineno, *(mark.lineno for mark in test.decorator_list)])
        assert (test.end_lineno or 0) - begin + 1 <= 8, test.name


def test_only_the_commands_know_of_mistakes() -> None:
    assert [path.name for path in SHOP if "careless" in path.read_text("utf-8") and path.name != "__init__.py"] == [
        "__main__.py"
    ]


def test_the_shop_can_be_read_in_one_go() -> None:
    lines = sum(bool(line.strip()) for path in SHOP for line in path.read_text("utf-8").splitlines())
    assert lines <= 720
