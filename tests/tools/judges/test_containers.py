"""The Testcontainers recipes for Java and Go: compiled against a stub, and run with a simulator."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.tools.judges import tools

STAND_IN = tools.HERE / "containers"
CLIENTS = tools.CONTRACTS / "clients"


def lay_out(directory: Path, files: dict[str, Path]) -> None:
    for name, source in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, directory / name)


def need(*commands: str) -> None:
    lacking = [name for name in commands if shutil.which(name, path=tools.environment()["PATH"]) is None]
    if lacking:
        pytest.skip(f"{' and '.join(lacking)} not found: `xargs apt-get install < tests/tools/judges/debian.txt`")


def test_java_container_makes_a_world_and_advances_its_clock(tmp_path: Path, origin: str) -> None:
    need("java", "javac")
    lay_out(tmp_path, {"RampsimContainer.java": CLIENTS / "java" / "RampsimContainer.java"})
    lay_out(tmp_path, {path.name: path for path in (STAND_IN / "java").iterdir()})
    made = tools.run("javac", "-d", "classes", *sorted(path.name for path in tmp_path.glob("*.java")), cwd=tmp_path)
    assert made.returncode == 0, made.stdout
    done = tools.run("java", "-cp", "classes", "Driver", cwd=tmp_path, STUB_PORT=origin.rpartition(":")[2])
    assert done.stdout.split() == ["true"] * 3, done.stdout


def test_go_container_makes_a_world_and_advances_its_clock(tmp_path: Path, origin: str) -> None:
    need("go")
    library = "src/github.com/testcontainers/testcontainers-go"
    files = {
        "src/rampsim/rampsim.go": CLIENTS / "go" / "rampsim.go",
        f"{library}/testcontainers.go": STAND_IN / "go" / "testcontainers.go",
        f"{library}/wait/wait.go": STAND_IN / "go" / "wait.go",
        "src/driver/main.go": STAND_IN / "go" / "main.go",
    }
    lay_out(tmp_path, files)
    environment = {"GO111MODULE": "off", "GOPATH": str(tmp_path), "GOCACHE": str(tools.STORE / "go")}
    port = origin.rpartition(":")[2]
    done = tools.run("go", "run", tmp_path / "src/driver/main.go", cwd=tmp_path, STUB_PORT=port, **environment)
    assert done.stdout.split() == ["true"] * 3, done.stdout
