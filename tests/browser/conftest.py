"""Debian's Chromium, driven by Playwright: pages as a phone shows them."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.browser.chromium import chromium

_PHONE = ViewportSize(width=390, height=844)
_MILLISECONDS = 60_000.0
"""The longest wait for anything on a page; the five seconds of Playwright pass on a loaded machine."""

expect.set_options(timeout=_MILLISECONDS)


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """One browser for the tests of a file, with the file's BROWSER_OPTIONS; while it runs, its driver's event loop is the process's."""
    with chromium(*getattr(request.module, "BROWSER_OPTIONS", ())) as running:
        yield running


@pytest.fixture
def problems() -> list[str]:
    """Collect the page's complaints: errors, and violations of its own policy."""
    return []


@pytest.fixture
def page(browser: Browser, problems: list[str]) -> Iterator[Page]:
    """A page in a window of its own, of the size of a phone."""
    context = browser.new_context(viewport=_PHONE, has_touch=True, reduced_motion="reduce")
    context.set_default_timeout(_MILLISECONDS)
    opened = context.new_page()
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    yield opened
    context.close()
