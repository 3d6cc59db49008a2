"""`rampsim assumptions`: lists the assumptions that can be switched, and how to verify each one."""

from __future__ import annotations

from collections.abc import Iterable

import click

from simulator.cli.options import option
from simulator.cli.output import fail, say, show
from simulator.engine.text import strict
from simulator.engine.worlds import alternatives
from simulator.service import TOOLING


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def assumptions(ids: tuple[str, ...], as_json: bool) -> None:
    """List the assumptions that a world can switch.

    For each assumption, this shows the default, the alternatives by name, and the call to the real sandbox whose
    response shows which one is right.

    \b
    rampsim assumptions
    rampsim assumptions H14 S16
    rampsim serve --assume H14=lapses_after_1h
    """
    switches = known_switches(ids)
    rows = [switch for switch in switches.values() if not ids or switch.id in ids]
    if as_json:
        show([alternatives.shown(switch) for switch in rows])
        return
    for switch in rows:
        say(f"{switch.id}  {switch.assumed}")
        for name, changes in switch.alternatives.items():
            say(f"    {name}: {changes}")
        say(f"    ask:  {switch.question}")
        say(f"    call: {switch.call}\n")
    say("Switch one with `rampsim serve --assume ID=ALTERNATIVE`, or for one world with settings.assumptions.")


def known_switches(ids: Iterable[str]) -> alternatives.Switches:
    """Return the assumptions that a world can switch. Exit with code 2 if one of `ids` is not one of them."""
    switches = TOOLING.alternatives()
    for one in ids:
        if one not in switches:
            meant = strict.did_you_mean(one, switches) or ";"
            fail(f"unknown assumption {one!r}{meant} `rampsim assumptions` lists them")
    return switches
