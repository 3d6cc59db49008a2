"""The TypeScript client in `contracts/clients/typescript`: the list of generated files, its types and its JavaScript.

`python -m tests.tools.judges.typescript` regenerates them from the contract files and the client's sources.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess

from tests.places import ROOT
from tests.tools.judges import tools

CLIENT = tools.CONTRACTS / "clients" / "typescript"
TYPES = {"openapi.d.ts": "openapi.yaml", "control.d.ts": "control.yaml"}
MADE = ("lib", "types")
COMPILERS = {"typescript": (), "typescript7": ("--ignoreConfig",)}
"""TypeScript 5, whose API openapi-typescript needs, and TypeScript 7, with its options for single files."""
STRICT = ("--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--types", "node", "--skipLibCheck")


@contextmanager
def copied(*, contracts: Path = tools.CONTRACTS) -> Iterator[Path]:
    """A copy of the client beside the webhook vectors, with its made files made anew from these contracts."""
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory, "clients", "typescript")
        shutil.copytree(CLIENT, copy, ignore=shutil.ignore_patterns(*MADE, "node_modules"))
        shutil.copy(tools.CONTRACTS / "webhook-vectors.json", directory)
        (copy / "node_modules").symlink_to(tools.STORE / "node_modules")
        make(copy, contracts)
        yield copy


def make(copy: Path, contracts: Path) -> None:
    """Make types and JavaScript; RuntimeError with what a tool said."""
    for name, document in TYPES.items():
        # A member with a default may be left out of a request: that says more than that every answer has it.
        options = ("--default-non-nullable=false", "--output", copy / "types" / name)
        _done(tools.run(tools.tool("openapi-typescript"), contracts / document, *options))
    _done(compiled("typescript", "--project", copy))


def compiled(compiler: str, *words: str | Path, cwd: Path = ROOT) -> CompletedProcess[str]:
    """Run a compiler. Both packages have the command `tsc`, so it is taken from the package."""
    return tools.run(tools.package(compiler) / "bin" / "tsc", *words, cwd=cwd)


def check_tests(copy: Path, compiler: str) -> CompletedProcess[str]:
    """Check the client's own tests against its types, strictly."""
    return checked(compiler, *sorted(copy.glob("tests/*.ts")), cwd=copy)


def checked(compiler: str, *files: str | Path, cwd: Path) -> CompletedProcess[str]:
    """Check files strictly, without the configuration beside them."""
    return compiled(compiler, *STRICT, *COMPILERS[compiler], *files, cwd=cwd)


def vitest(directory: Path, url: str) -> CompletedProcess[str]:
    """Run the tests of a directory against a simulator."""
    return tools.run(tools.tool("vitest"), "run", "--reporter=verbose", cwd=directory, SIMULATOR_URL=url)


def made_files(client: Path) -> Mapping[str, bytes]:
    """Return the generated files by path."""
    paths = sorted(path for folder in MADE for path in (client / folder).rglob("*") if path.is_file())
    return {path.relative_to(client).as_posix(): path.read_bytes() for path in paths}


def _done(process: CompletedProcess[str]) -> None:
    if process.returncode:
        raise RuntimeError(process.stdout)


def main() -> None:
    """Write what has changed, and name it."""
    with copied() as copy:
        new, old = made_files(copy), made_files(CLIENT)
        for name in sorted(old.keys() - new.keys()):
            (CLIENT / name).unlink()
        for name, content in new.items():
            if old.get(name) != content:
                (CLIENT / name).parent.mkdir(exist_ok=True)
                (CLIENT / name).write_bytes(content)
                sys.stdout.write(f"{name}\n")


if __name__ == "__main__":
    main()
