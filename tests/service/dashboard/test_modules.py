"""The modules of the page fit together: one import of something that is not there, and the page stays empty."""

from __future__ import annotations

import posixpath
import re

from simulator.dashboard import page_files

MODULES = {name: part.content.decode() for name, part in page_files().items() if name.startswith("js/")}
_EXPORT = re.compile(r"^export (?:async )?(?:function\*?|const|let|class) (\w+)|^export \{([^}]*)\}", re.MULTILINE)
_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)"', re.MULTILINE)


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
