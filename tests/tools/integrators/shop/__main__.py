"""The shop's commands. The environment specifies the account (see `settings`).

python -m tests.tools.integrators.shop serve # customers and the service reach it on port 8000 python -m
tests.tools.integrators.shop reconcile # read everything that may have been missed; also called `settle` python -m
tests.tools.integrators.shop books # for each order, a JSON line with the received amount
"""

from __future__ import annotations

import json
import os
import sys

from tests.tools.integrators.shop.app import Till, create_app
from tests.tools.integrators.shop.careless import MISTAKES, careless, named
from tests.tools.integrators.shop.settings import Settings

PORT = os.environ.get("PORT", "8000")


def books(till: Till) -> int:
    for order in till.shop.books.orders():
        print(json.dumps(till.shop.books.shown(order)))  # noqa: T201
    return 0


def reconcile(till: Till) -> int:
    """1 when something could not be asked about; the next run asks again."""
    troubles = till.shop.reconcile()
    for trouble in troubles:
        print(trouble, file=sys.stderr)  # noqa: T201
    return 1 if troubles else 0


def serve(till: Till) -> int:
    import uvicorn

    uvicorn.run(create_app(till), port=int(PORT))
    return 0


def register(till: Till) -> int:
    url = f"http://127.0.0.1:{PORT}/webhooks"
    till.shop.service.post("/webhooks", {"url": url, "events": ["*"]}, key=f"register/{url}")
    return 0


def mistakes() -> int:
    for name, steps in MISTAKES.items():
        print(f"{name}: {steps[-1].__doc__}")  # noqa: T201
    return 0


COMMANDS = {"books": books, "reconcile": reconcile, "settle": reconcile, "serve": serve, "register": register}


def main(arguments: list[str]) -> int:
    if arguments == ["mistakes"]:
        return mistakes()
    if len(arguments) != 1 or arguments[0] not in COMMANDS:
        print(f"Say one of: {', '.join(COMMANDS)}, mistakes.", file=sys.stderr)  # noqa: T201
        return 2
    return COMMANDS[arguments[0]](careless(*named(os.environ)).open(Settings.from_environment()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
