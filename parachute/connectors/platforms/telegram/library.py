"""Preparing the import of python-telegram-bot: without what it would load and this process never uses."""

import logging
import os
import sys

_UNUSED = ("cryptography", "rich", "pygments")
"""Telegram Passport, and the command line of its HTTP library: 12 MB together, and optional for both."""


def prepare() -> None:
    """To be called before the first import, in a process of its own."""
    for name in _UNUSED:
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]
    # Times are timedeltas; the older form is announced to end.
    os.environ["PTB_TIMEDELTA"] = "1"
    # On errors they log whole messages, and addresses with the token.
    for name in ("telegram", "httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
