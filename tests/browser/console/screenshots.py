"""Pictures of every screen and scene of the console, at the size of a phone and of a desktop, light and dark: `make screenshots`.

python -m tests.browser.console.screenshots [SCREEN ...] [--size phone] [--scheme dark] [--language de]

A SCREEN is an address, such as `computer/logs`, or one of the scenes of scenes.py. Without options every screen is taken light and the first two also dark, in English; with one, every screen so.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Error, expect

from tests.browser.chromium import chromium
from tests.browser.console.furnished import furnished_computer
from tests.browser.console.people import DESKTOP, PHONE, Person
from tests.browser.console.scenes import SCENES
from tests.support.computer import Computer

FOLDER = Path(__file__).parents[3] / "build" / "screenshots"
SIZES = {"phone": PHONE, "desktop": DESKTOP}
SCHEMES = ("light", "dark")
FURTHER = (
    "welcome",
    *(f"capabilities/{tab}" for tab in ("agents", "skills", "mcps")),
    *(f"computer/{tab}" for tab in ("model", "backups", "doctor", "settings", "updates", "network", "hooks", "logs")),
    "knowledge/duplicates",
)
"""Screens that are not in the navigation."""
IN_DARK = 2
"""Screens that are taken dark as well, where nobody says more."""
FAULTS = """(least) => {
  const small = [...document.querySelectorAll('button, select, .button, [role=option], [role=tab]')].flatMap((control) => {
    const { width, height } = control.getBoundingClientRect();
    const name = control.ariaLabel || control.textContent.trim().slice(0, 40);
    return width && Math.min(width, height) < least ? [`${name} is ${Math.round(width)} x ${Math.round(height)}`] : [];
  });
  return [...(document.documentElement.scrollWidth > innerWidth ? ['it scrolls sideways'] : []), ...new Set(small)];
}"""
"""Measurable faults: controls that a finger misses, and a page that is too wide."""


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
    for place in screens or [*found, *FURTHER, *SCENES][:most]:
        page.goto("about:blank")  # for no dialog of the scene before
        try:
            if place in SCENES:
                SCENES[place](person)
            else:
                person.open(place)
                expect(page.locator(".loading")).to_have_count(0)
        except (AssertionError, Error) as error:
            yield f"{place}: {str(error)[:500]}"
        for fault in page.evaluate(FAULTS, 40 if size == "phone" else 24):
            yield f"{place}: {fault}"
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
