"""`rampsim --help`: sections, and a description of each command in one line of 80 columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import click
from click.testing import CliRunner

from simulator.cli import SECTIONS, main

_COLUMNS = 80


def groups(command: click.Command, *names: str) -> Iterator[tuple[str, ...]]:
    """The names that call each group, this one first."""
    if isinstance(command, click.Group):
        yield names
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from groups(found, *names, name)


def help_of(*names: str) -> str:
    result = CliRunner().invoke(main, [*names, "--help"], terminal_width=_COLUMNS)
    assert result.exit_code == 0
    return result.stdout


def test_each_command_is_in_one_section() -> None:
    lines = help_of().splitlines()
    for section, commands in SECTIONS.items():
        begin = lines.index(f"{section}:") + 1
        assert [line.split()[0] for line in lines[begin : begin + len(commands)]] == list(commands)
    assert set(Counter(name for commands in SECTIONS.values() for name in commands).values()) == {1}


def test_command_summaries_fit_one_line() -> None:
    for names in groups(main):
        cut = [
            line
            for line in help_of(*names).splitlines()
            if (line.startswith("  ") and line.endswith("...")) or len(line) > _COLUMNS
        ]
        assert cut == []
