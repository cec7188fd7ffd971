"""Pictures of every screen of the console, at the size of a phone and of a desktop, light and dark: `make screenshots`.

python -m tests.browser.console.screenshots [SCREEN ...]
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.console.furnished import furnished_computer
from tests.browser.console.people import DESKTOP, PHONE, Person

FOLDER = Path(__file__).parents[3] / "build" / "screenshots"
SIZES = {"phone": PHONE, "desktop": DESKTOP}


def main(wanted: list[str]) -> None:
    """Take the pictures into build/screenshots, and tell what a page complained about."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with furnished_computer() as computer, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for size, options in SIZES.items():
            for scheme in ("light", "dark"):
                person = Person(browser, computer, options, color_scheme=scheme)
                page = person.sign_in()
                screens = page.evaluate(
                    "[...document.querySelectorAll('nav.column li a')].map((link) => link.hash.slice(2))"
                )
                screens.append("welcome")  # which is not in the navigation
                for place in (wanted or screens) if scheme == "light" else (wanted or screens[:2]):
                    person.open(place)
                    page.wait_for_function("!document.querySelector('.loading')")
                    page.screenshot(path=FOLDER / f"{place.replace('/', '_')}-{size}-{scheme}.png")
                for problem in person.problems:
                    print(f"{size}: {problem}", file=sys.stderr)  # noqa: T201
                person.context.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
