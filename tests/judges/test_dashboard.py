"""The dashboard's script is executed: a page in jsdom, against a server of its own, does what a person does there."""

from __future__ import annotations

from tests.judges import tools


def test_everything_a_person_does_on_the_dashboard_works(origin: str) -> None:
    script = tools.HERE / "dashboard.mjs"
    done = tools.run(tools.node_directory() / "node", script, tools.STORE, origin)
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1] == "a reset empties it", done.stdout
