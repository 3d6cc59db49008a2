"""`reference/commands.md`: every command with its arguments and options, the same as in `--help`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from contracts.generator.reference.text import table
from simulator.cli import SECTIONS, main
from simulator.engine.text.citations import slug

_HEAD = """\
# Command line

`rampsim` starts a server and controls a running one. `rampsim COMMAND --help` shows the same text as this page.

| exit code | meaning for every command |
| - | - |
| 0 | done |
| 1 | refused by the server, invalid input, or a failed expectation |
| 2 | wrong usage or configuration |
| 3 | no server responds at the address |

Commands that use a running server also have these options:

"""
_OF_A_SERVER = ("config", "url", "world", "environment", "control_token")


def page() -> str:
    """The page as Markdown."""
    context = click.Context(main, info_name="rampsim", **main.context_settings)
    commands = list(_all(main, context))
    remote = next(command for command, inner in commands if _speaks(command, inner))
    shared = [one for one in remote.params if one.name in _OF_A_SERVER]
    lines = [_HEAD + "\n".join(_options(shared, context)), "", "## All commands"]
    for section, names in SECTIONS.items():
        rows = (
            (f"[`{one.command_path}`](#{slug(one.command_path)})", command.get_short_help_str(200))
            for command, one in commands
            if one.command_path.split()[1] in names
        )
        lines += ["", f"### {section}", "", *table(("command", "purpose"), rows)]
    for command, one in commands:
        lines += ["", f"## {one.command_path}", "", *_command(command, one)]
    return "\n".join(lines).rstrip() + "\n"


def _all(command: click.Command, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    """Yield every command below this one with its context, groups before their commands."""
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None and not found.hidden:
                inner = click.Context(found, parent=context, info_name=name)
                yield found, inner
                yield from _all(found, inner)


def _speaks(command: click.Command, context: click.Context) -> bool:
    return set(_OF_A_SERVER) <= {one.name for one in command.get_params(context)}


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    yield from (f"`{' '.join(command.get_usage(context).removeprefix('Usage: ').split())}`", "")
    yield from _prose(command.help or "")
    is_remote = _speaks(command, context)
    own = [
        one
        for one in command.get_params(context)
        if not (is_remote and one.name in _OF_A_SERVER) and one.name != "help"
    ]
    options = [one for one in own if isinstance(one, click.Option) and not one.hidden]
    if options:
        yield from ("", *_options(options, context))
    if is_remote:
        yield from ("", "This command uses a running server.")
    yield from ("", *_prose(command.epilog)) if command.epilog else ()


def _prose(text: str) -> Iterator[str]:
    """Yield the paragraphs of a help text. A paragraph that starts with \\b is preformatted."""
    for number, paragraph in enumerate(inspect.cleandoc(text).split("\n\n")):
        if number:
            yield ""
        if paragraph.startswith("\b"):
            yield from ("<!-- not run: copied from the help -->", "```text", *paragraph.splitlines()[1:], "```")
        else:
            yield " ".join(paragraph.split())


def _options(options: list[click.Parameter] | list[click.Option], context: click.Context) -> list[str]:
    rows = []
    for one in options:
        assert isinstance(one, click.Option)
        names, text = one.get_help_record(context) or ("", "")
        variable = one.envvar if isinstance(one.envvar, str) else ""
        said = " ".join((one.help or text).split())
        default = (
            one.default if isinstance(one.default, (str, int, float)) and not isinstance(one.default, bool) else None
        )
        if default not in (None, "") and "default:" not in said and not one.is_flag:
            said += f"  [default: {default}]"
        rows.append((f"`{names}`", f"`{variable}`" if variable else "", said))
    return table(("option", "variable", "meaning"), rows)
