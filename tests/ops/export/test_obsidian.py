"""A vault of Obsidian as it is: the computer lives in it, and links between notes lead where they led."""

from collections.abc import Iterator

import pytest

from tests.modules.runtime.module_computer import ModuleComputer

pytestmark = pytest.mark.long
NOTES = {
    ".obsidian/app.json": "{}",
    "Garden.md": "Peas with [[Kevin]].",
    "Daily notes/2025-03-04.md": "Met [[Kevin Ray|Kevin]].",
    "Brain/entities/Kevin Ray.md": "---\naliases: [Kevin]\n---\nAdvises on boats, at the [[Boat yard]].",
    "Brain/entities/Boat yard.md": "By the river.",
}


@pytest.fixture
def computer() -> Iterator[ModuleComputer]:
    """A computer whose vault somebody used with Obsidian before."""
    made = ModuleComputer()
    for path, text in NOTES.items():
        (made.vault / path).parent.mkdir(parents=True, exist_ok=True)
        (made.vault / path).write_text(text)
    with made as running:
        done = running.command("setup", "--yes", "--modules", "brain")
        assert done.returncode == 0, done.stderr
        yield running


def test_notes_are_entities_and_links_lead_to_others(computer: ModuleComputer) -> None:
    found = computer.eventually("/api/brain/search?q=boats", lambda each: each["results"], "the notes are read")
    (kevin,) = found["results"]
    assert kevin["name"] == "Kevin Ray"
    yard = computer.value("/api/brain/resolve/Boat%20yard")["para_id"]
    linked = computer.value(f"/api/brain/links?id={yard}")
    assert kevin["para_id"] in str(linked)
    assert computer.value("/api/brain/resolve/Kevin")["para_id"] == kevin["para_id"]
    # Everything else is as it was.
    for path in (".obsidian/app.json", "Garden.md", "Daily notes/2025-03-04.md"):
        assert (computer.vault / path).read_text() == NOTES[path]
    assert computer.value("/api/read?path=Garden.md")["content"] == NOTES["Garden.md"]
