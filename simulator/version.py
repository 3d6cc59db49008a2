"""The version of the package and the name of its wheel. This module imports nothing, so any module can import it."""

__version__ = "0.1.0"


def wheel(extra: str = "") -> str:
    """Return the path of the wheel as an argument for pip, with an extra if one is given.

    Messages and pages name the file, never the bare name `rampsim`. That name is not registered on the public index, so
    anyone could register it and run code on every machine that follows the message.
    """
    return f"./rampsim-{__version__}-py3-none-any.whl" + (f"[{extra}]" if extra else "")
