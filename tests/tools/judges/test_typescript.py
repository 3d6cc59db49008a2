"""The TypeScript client: its types match the contract, its fixtures work, and it is a valid package."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from simulator.cli import main
from simulator.cli.tools import recipes
from tests.tools.judges import tools, typescript

pytestmark = pytest.mark.xdist_group("typescript")


@pytest.fixture(scope="module")
def client() -> Iterator[Path]:
    with typescript.copied() as copy:
        yield copy


def test_what_is_made_is_that_of_the_contract_and_the_sources(client: Path) -> None:
    new, old = typescript.made_files(client), typescript.made_files(typescript.CLIENT)
    differs = sorted(name for name in new.keys() | old.keys() if new.get(name) != old.get(name))
    assert differs == [], "make clients"


@pytest.mark.parametrize("compiler", typescript.COMPILERS)
def test_the_tests_of_the_client_type_check(compiler: str, client: Path) -> None:
    done = typescript.check_tests(client, compiler)
    assert done.returncode == 0, done.stdout


def test_a_client_of_a_contract_with_another_field_does_not_compile(tmp_path: Path) -> None:
    for name in typescript.TYPES.values():
        text = (tools.CONTRACTS / name).read_text("utf-8")
        (tmp_path / name).write_text(text.replace("access_token", "token"), "utf-8")
    with (
        pytest.raises(RuntimeError, match="not assignable to type 'Promise<string>'"),
        typescript.copied(contracts=tmp_path),
    ):
        pass


def test_both_compilers_make_the_same_javascript(client: Path) -> None:
    made = typescript.made_files(client)
    done = typescript.compiled("typescript7", "--project", client)
    assert done.returncode == 0, done.stdout
    scripts = {name: text for name, text in typescript.made_files(client).items() if name.endswith(".js")}
    assert scripts == {name: text for name, text in made.items() if name.endswith(".js")}


def test_the_fixtures_carry_ramps_webhooks_time_faults_and_refusals(client: Path, origin: str) -> None:
    done = typescript.vitest(client, origin)
    assert done.returncode == 0, done.stdout
    for title in ("an onramp completes", "an offramp completes", "a quote expires", "a live key is refused"):
        assert re.search(f"✓.* {title}", done.stdout), title


def npm(*words: str | Path, cwd: Path) -> None:
    path = tools.node_directory().parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--fetch-retries=0")
    done = tools.run(tools.node_directory() / "node", path, *words, *quiet, cwd=cwd)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("source", ["recipe", "server"])
def test_a_project_takes_it_from_the_package_or_a_server_and_its_first_tests_pass(
    source: str, tmp_path: Path, origin: str
) -> None:
    (tmp_path / "package.json").write_text('{"type": "module"}')
    if source == "recipe":
        written = CliRunner().invoke(main, ["recipe", "write", "typescript", "--to", str(tmp_path)])
        assert written.exit_code == 0, written.output
        npm("pack", tmp_path / "rampsim-client", cwd=tmp_path)
        [packed] = tmp_path.glob("*.tgz")
        npm("install", packed, "--offline", cwd=tmp_path)
    else:
        npm("install", f"{origin}/_simulator/rampsim-client.tgz", cwd=tmp_path)
    modules = tmp_path / "node_modules"
    for name in ("vitest", "vite", "@vitest", "@types", "undici-types"):
        if (tools.STORE / "node_modules" / name).exists():
            (modules / name).symlink_to(tools.STORE / "node_modules" / name)
    page = (typescript.CLIENT / "README.md").read_text("utf-8")
    [(name, text)] = re.findall(r"^```ts (\S+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (tmp_path / name).write_text(text)

    for compiler in typescript.COMPILERS:
        checked = typescript.checked(compiler, name, cwd=tmp_path)
        assert checked.returncode == 0, checked.stdout
    done = typescript.vitest(tmp_path, origin)
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


def test_every_file_of_the_package_is_in_its_recipe() -> None:
    files = set(typescript.made_files(typescript.CLIENT)) | {"package.json", "README.md"}
    assert set(recipes.recipes()["typescript"].files) == files
