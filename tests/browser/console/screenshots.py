"""Pictures of every screen and scene of the console, at the size of a phone and of a desktop, light and dark: `make screenshots`.

python -m tests.browser.console.screenshots [SCREEN ...] [--size phone] [--scheme dark] [--language de] [--whole] [--empty]

A SCREEN is an address, such as `computer/logs`, or one of the scenes of scenes/. Without options every screen is taken light and the first two also dark, in English; with one, every screen so.
With --whole a picture goes to the end of the page, and not to that of the window. With --empty it is a computer on which nothing has happened yet.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Error, expect

from tests.browser.chromium import chromium
from tests.browser.console.furnished import empty_computer, furnished_computer
from tests.browser.console.people import DESKTOP, PHONE, Person
from tests.browser.console.scenes import SCENES
from tests.support.computer import Computer

FOLDER = Path(__file__).parents[3] / "build" / "screenshots"
SIZES = {"phone": PHONE, "desktop": DESKTOP}
SCHEMES = ("light", "dark")
FURTHER = (
    "welcome",
    *(f"welcome/{step}" for step in ("restore", "model", "modules", "phone", "backup", "end")),
    "conversations/import",
    "conversations/claude-code",
    "files/Notes",
    "files/Notes?file=garden.md",
    "files/Pictures?file=dot.png",
    "knowledge/types",
    "knowledge/types/project",
    "knowledge/new?type=project",
    "modules/brain",
    "modules/daily",
    *(f"capabilities/{tab}" for tab in ("agents", "skills", "mcps")),
    *(f"computer/{tab}" for tab in ("model", "backups", "doctor", "settings", "updates", "network", "hooks", "logs")),
    "knowledge/duplicates",
)
"""Screens that are not in the navigation."""
PATIENCE = 15_000
"""Milliseconds that a scene may take to come."""
LONGEST = 4000
"""Pixels of a picture of a whole page: what is longer is a list."""
IN_DARK = 2
"""Screens that are taken dark as well, where nobody says more."""
FAULTS = """(least) => {
  const small = [...document.querySelectorAll('button:not(.as-link), select, .button, [role=option], [role=tab]')].flatMap((control) => {
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
    # A scene that does not come is told, and the others are not kept waiting.
    expect.set_options(timeout=PATIENCE)
    with empty_computer() if wanted.empty else furnished_computer() as computer, chromium() as browser:
        for size in wanted.size or SIZES:
            for scheme in wanted.scheme or SCHEMES:
                most = None if wanted.scheme or wanted.screens or scheme == "light" else IN_DARK
                for problem in take(browser, computer, size, scheme, wanted, most):
                    print(f"{size}: {problem}", file=sys.stderr)  # noqa: T201


def take(
    browser: Browser, computer: Computer, size: str, scheme: str, wanted: argparse.Namespace, most: int | None
) -> Iterator[str]:
    """Take the pictures of one browser; what its pages complained about."""
    person = Person(browser, computer, SIZES[size], color_scheme=scheme, locale=wanted.language)
    page = person.sign_in()
    person.context.set_default_timeout(PATIENCE)
    found = page.evaluate("[...document.querySelectorAll('nav.column li a')].map((link) => link.hash.slice(2))")
    ending = "" if wanted.language == "en" else f"-{wanted.language}"
    ending += "-empty" if wanted.empty else ""
    for place in wanted.screens or ([*found, *FURTHER[:1]] if wanted.empty else [*found, *FURTHER, *SCENES])[:most]:
        page.goto("about:blank")  # for no dialog of the scene before
        try:
            if place in SCENES:
                SCENES[place](person)
            else:
                person.open(place)
                expect(page.locator(".loading, main progress:not([value])")).to_have_count(0)
        except (AssertionError, Error) as error:
            yield f"{place}: {str(error)[:500]}"
        for fault in page.evaluate(FAULTS, 40 if size == "phone" else 24):
            yield f"{place}: {fault}"
        path = FOLDER / f"{re.sub('[/?=]', '_', place)}-{size}-{scheme}{ending}.png"
        if wanted.whole:
            # The window becomes as high as the page: what is fixed at its foot would lie over what is in the middle.
            height = max(SIZES[size]["viewport"]["height"], page.evaluate("document.documentElement.scrollHeight"))
            page.set_viewport_size({"width": SIZES[size]["viewport"]["width"], "height": min(height, LONGEST)})
        page.screenshot(path=path)
        page.set_viewport_size(SIZES[size]["viewport"])
        page.unroute_all()
    yield from person.problems
    person.context.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("screens", nargs="*")
    parser.add_argument("--size", choices=SIZES, action="append")
    parser.add_argument("--scheme", choices=SCHEMES, action="append")
    parser.add_argument("--language", choices=("en", "de"), default="en")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--empty", action="store_true")
    main(parser.parse_args())
