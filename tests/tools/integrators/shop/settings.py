"""The shop's configuration: the service, the keys, and the database file."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """One account at the service. `now` gives seconds since 1970, `sleep` waits: tests put simulated time here."""

    base_url: str
    public_key: str
    secret_key: str = field(repr=False)
    webhook_key: str = field(repr=False)
    books: str
    """The SQLite file; `:memory:` for none."""
    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Of the variables SIMULATOR_URL (a base URL), SIMULATOR_*_KEY, and SHOP_BOOKS (a folder).

        Every account has books of its own, named by its public key. SystemExit when a variable is missing.
        """
        names = ("SIMULATOR_URL", "SIMULATOR_PUBLIC_KEY", "SIMULATOR_SECRET_KEY", "SIMULATOR_WEBHOOK_KEY")
        missing = [name for name in names if not environment.get(name)]
        if missing:
            raise SystemExit(f"The shop does not know its account: set {', '.join(missing)}.")
        url, public_key, secret_key, webhook_key = (environment[name] for name in names)
        return cls(
            url, public_key, secret_key, webhook_key, books_of(public_key, environment.get("SHOP_BOOKS", ".shop"))
        )


def books_of(public_key: str, folder: str) -> str:
    """The file of an account's books in a folder, which is made when it is not there."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    return str(Path(folder, f"{public_key}.sqlite3"))
