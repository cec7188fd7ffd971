"""Names of controls in the language that a page is shown in: a scene is one for all languages."""

import ast
import functools
import re
from pathlib import Path

from playwright.sync_api import Page

LANGUAGES = Path(__file__).parents[3] / "languages"
_ENTRY = re.compile(r'^msgid (".*")\nmsgstr (".*")$', re.MULTILINE)


def spoken(page: Page, english: str) -> re.Pattern[str]:
    """The name of a control as this page shows it: one of the translations of the English name, or what people called it themselves."""
    language = str(page.evaluate("document.documentElement.lang"))
    names = {english} if language == "en" else translations(language).get(english, {english})
    # A browser reads an expression as its own language has it, where a slash ends one.
    return re.compile(f"^({'|'.join(re.escape(name).replace('/', '[/]') for name in names)})$")


@functools.cache
def translations(language: str) -> dict[str, set[str]]:
    """The translations of each text of the console and of the server; one text may have several, in different places."""
    found: dict[str, set[str]] = {}
    for english, translated in _ENTRY.findall((LANGUAGES / f"{language}.po").read_text()):
        found.setdefault(ast.literal_eval(english), set()).add(ast.literal_eval(translated))
    return found
