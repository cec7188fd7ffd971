"""Chromium without windows, as Playwright drives it."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserType, sync_playwright

_WHOLE = "chromium"
_SHELL = "chromium-headless-shell"
"""Chromium without what is around a page, such as its windows; it takes less than half of the processor's time."""

MICROPHONE = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")
"""Options of a browser with a microphone that plays a tone, and that pages may use."""


def launch(
    kind: BrowserType,
    *options: str,
    home: Path | None = None,
    whole: bool = False,
    wrapped: Callable[[str], str] = lambda program: program,
) -> Browser:
    """A browser with these options, of the user of the tests or of the one with that home; `wrapped` starts it elsewhere.

    Notifications need the whole of it. Systems that have no package of the shell take the whole for everything.
    """
    programs = [_WHOLE] if whole else [_SHELL, _WHOLE]
    program = next(filter(None, map(shutil.which, programs)), None)
    if program is None:
        pytest.fail(f"Chromium is missing:  apt-get install {programs[0]}", pytrace=False)
    # Root has no use for a sandbox of its own, and without this it does not start at all.
    unboxed = ["--no-sandbox"] if os.geteuid() == 0 else []
    environment: dict[str, str | float | bool] | None = {**os.environ, "HOME": str(home)} if home else None
    return kind.launch(executable_path=wrapped(program), args=[*options, *unboxed], env=environment)


@contextmanager
def chromium(*options: str, home: Path | None = None, whole: bool = False) -> Iterator[Browser]:
    """A browser while a block runs; its driver's event loop is the process's meanwhile."""
    with sync_playwright() as playwright:
        running = launch(playwright.chromium, *options, home=home, whole=whole)
        yield running
        running.close()
