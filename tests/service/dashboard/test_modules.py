"""The modules of the page fit together. One import of a missing name would leave the page empty."""

from __future__ import annotations

import posixpath
import re
from graphlib import TopologicalSorter

from simulator.dashboard import page_files

SCRIPTS = {name: part.content.decode() for name, part in page_files().items() if name.endswith(".js")}
MODULES = {name: text for name, text in SCRIPTS.items() if name.startswith("js/")}
_EXPORT = re.compile(r"^export (?:async )?(?:function\*?|const|let|class) (\w+)|^export \{([^}]*)\}", re.MULTILINE)
_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)"', re.MULTILINE)
# With `from`, without, and `import("…")`; with blanks or, as in vendor/, without.
_TARGET = re.compile(r'(?:^(?:import|export)\b[^;"]*?\bfrom|\bimport)\s*\(?\s*"(\.[^"]+)"', re.MULTILINE)


def _imports(name: str) -> set[str]:
    """Return the paths of the modules that a module imports."""
    return {posixpath.normpath(posixpath.join(posixpath.dirname(name), to)) for to in _TARGET.findall(SCRIPTS[name])}


def _exports(text: str) -> set[str]:
    return {name.strip() for one, many in _EXPORT.findall(text) for name in (one, *many.split(",")) if name.strip()}


def test_every_module_exports_what_others_import_from_it() -> None:
    lacking = []
    for name, text in MODULES.items():
        for names, target in _IMPORT.findall(text):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
            if path.startswith("js/"):
                wanted = {one.strip().split(" as ")[0] for one in names.split(",") if one.strip()}
                lacking += [f"{name}: {one} of {path}" for one in wanted - _exports(MODULES.get(path, ""))]
    assert lacking == []


def test_modules_import_each_other_without_a_circle() -> None:
    """In a circle, the order of evaluation decides whether an imported constant exists yet."""
    TopologicalSorter({name: _imports(name) for name in SCRIPTS}).prepare()  # CycleError names the modules


def test_main_reaches_every_module() -> None:
    reached, left = set[str](), ["js/main.js"]
    while left:
        if (name := left.pop()) not in reached:
            reached.add(name)
            left += _imports(name)
    assert reached == set(SCRIPTS)
