"""Pictures of every screen of the console, at the size of a phone and of a desktop, light and dark: `make screenshots`.

python -m tests.browser.console.screenshots [SCREEN ...] [--size phone] [--scheme dark] [--language de]

Without options every screen is taken light and the first two also dark, in English; with one, every screen so.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.browser.chromium import chromium
from tests.browser.console.furnished import furnished_computer
from tests.browser.console.people import DESKTOP, PHONE, Person
from tests.support.computer import Computer

FOLDER = Path(__file__).parents[3] / "build" / "screenshots"
SIZES = {"phone": PHONE, "desktop": DESKTOP}
SCHEMES = ("light", "dark")
IN_DARK = 2
"""Screens that are taken dark as well, where nobody says more."""


def main(wanted: argparse.Namespace) -> None:
    """Take the pictures into build/screenshots, and tell what a page complained about."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with furnished_computer() as computer, chromium() as browser:
        for size in wanted.size or SIZES:
            for scheme in wanted.scheme or SCHEMES:
                most = None if wanted.scheme or wanted.screens or scheme == "light" else IN_DARK
                for problem in take(browser, computer, size, scheme, wanted.language, wanted.screens, most):
                    print(f"{size}: {problem}", file=sys.stderr)  # noqa: T201


def take(
    browser: Browser, computer: Computer, size: str, scheme: str, language: str, screens: list[str], most: int | None
) -> Iterator[str]:
    """Take the pictures of one browser; what its pages complained about."""
    person = Person(browser, computer, SIZES[size], color_scheme=scheme, locale=language)
    page = person.sign_in()
    found = page.evaluate("[...document.querySelectorAll('nav.column li a')].map((link) => link.hash.slice(2))")
    ending = "" if language == "en" else f"-{language}"
    # `welcome` is not in the navigation.
    for place in screens or [*found, "welcome"][:most]:
        person.open(place)
        expect(page.locator(".loading")).to_have_count(0)
        page.screenshot(path=FOLDER / f"{place.replace('/', '_')}-{size}-{scheme}{ending}.png")
    yield from person.problems
    person.context.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("screens", nargs="*")
    parser.add_argument("--size", choices=SIZES, action="append")
    parser.add_argument("--scheme", choices=SCHEMES, action="append")
    parser.add_argument("--language", choices=("en", "de"), default="en")
    main(parser.parse_args())
