"""Taps of a person: a task that needs more of them than it may fails its test."""

from collections.abc import Sequence

from playwright.sync_api import FilePayload, Locator, Page


class Taps:
    """A task in a page; every click, key and choice in a list is one tap, and what is typed is none."""

    def __init__(self, page: Page, allowed: int) -> None:
        self.page = page
        self.allowed = allowed
        self.made: list[str] = []

    def _count(self, what: object) -> None:
        self.made.append(str(what))
        assert len(self.made) <= self.allowed, "more taps than this task may need:\n" + "\n".join(self.made)

    def on(self, name: str, role: str = "button", within: Locator | None = None) -> None:
        """Tap what has exactly this name."""
        found = (within or self.page).get_by_role(role, name=name, exact=True)  # type: ignore[arg-type]
        self.at(found)

    def at(self, place: Locator) -> None:
        """Tap a place."""
        self._count(place)
        place.click()

    def key(self, keys: str) -> None:
        """Press a key, or some at once."""
        self._count(keys)
        self.page.keyboard.press(keys)

    def choose(self, label: str, value: str) -> None:
        """Choose from a list."""
        self._count(label)
        self.page.get_by_label(label, exact=True).select_option(value)

    def attach(self, place: Locator, files: Sequence[FilePayload]) -> None:
        """Tap what asks for files, and choose these."""
        self._count(place)
        with self.page.expect_file_chooser() as asked:
            place.click()
        asked.value.set_files(files)

    def to(self, screen: str) -> None:
        """Go to a screen from wherever one is: by the bar or the column, or on a phone by More."""
        shown = self.page.get_by_role("navigation").get_by_role("link", name=screen).filter(visible=True)
        if not shown.count():
            self.on("More")
        self.at(shown.last)
