"""`rampsim assumptions`: lists the assumptions that can be switched, and how to verify each one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from simulator.cli.output import EXIT_USAGE, fail, say, show

if TYPE_CHECKING:
    from simulator.engine.worlds.alternatives import Switches


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def assumptions(ids: tuple[str, ...], as_json: bool) -> None:
    """List the assumptions that a world can switch.

    For each assumption, this shows the default, the alternatives by name, and the call to the real sandbox whose
    response shows which one is right.

    \b
    rampsim assumptions
    rampsim assumptions H14 S16
    rampsim serve --assume H14=lapses_after_1h
    """
    from simulator.engine.worlds.alternatives import shown

    switches = known_switches(ids)
    rows = [switch for switch in switches.values() if not ids or switch.id in ids]
    if as_json:
        show([shown(switch) for switch in rows])
        return
    for switch in rows:
        say(f"{switch.id}  {switch.assumed}")
        for name, changes in switch.alternatives.items():
            say(f"    {name}: {changes}")
        say(f"    ask:  {switch.question}")
        say(f"    call: {switch.call}\n")
    say("Switch one with `rampsim serve --assume ID=ALTERNATIVE`, or for one world with settings.assumptions.")


def known_switches(ids: Iterable[str]) -> Switches:
    """Return the assumptions that a world can switch. Exit with code 2 if one of `ids` is not one of them."""
    from simulator.engine.text.strict import did_you_mean
    from simulator.service import TOOLING

    switches = TOOLING.alternatives()
    for one in ids:
        if one not in switches:
            fail(
                [f"unknown assumption {one!r}{did_you_mean(one, switches) or ';'} `rampsim assumptions` lists them"],
                EXIT_USAGE,
            )
    return switches
