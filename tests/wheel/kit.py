"""The test kit of an installed simulator: the tests of the page "In your tests", as a partner's project would run them.

Run by the Python of an environment that has the wheel with its extra `testing`, and pytest, in a directory outside of
the checkout.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parents[2] / "simulator" / "docs" / "how-to" / "in-your-tests.md"
_FILE = re.compile(r"^<!-- file: (test_\w+\.py) -->\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main() -> None:
    files = _FILE.findall(PAGE.read_text("utf-8"))
    assert files
    with tempfile.TemporaryDirectory() as directory:
        for name, text in files:
            Path(directory, name).write_text(text, "utf-8")
        words = [sys.executable, "-P", "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider"]
        done = subprocess.run(words, cwd=directory, capture_output=True, text=True, timeout=120)
    sys.stdout.write(done.stdout if done.returncode else "The installed wheel brings the fixtures to pytest.\n")
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
