"""A vault of Obsidian as it is: the computer lives in it, and links between notes lead where they led."""

import pytest

from tests.modules.runtime.module_computer import ModuleComputer
from tests.support.computer import Computer
from tests.support.making import Make

pytestmark = pytest.mark.long
NOTES = {
    ".obsidian/app.json": "{}",
    "Garden.md": "Peas with [[Kevin]].",
    "Daily notes/2025-03-04.md": "Met [[Kevin Ray|Kevin]].",
    "Brain/entities/Kevin Ray.md": "---\naliases: [Kevin]\n---\nAdvises on boats, at the [[Boat yard]].",
    "Brain/entities/Boat yard.md": "By the river.",
}


def test_notes_are_entities_and_links_lead_to_others(make_computer: Make[Computer]) -> None:
    computer = make_computer(ModuleComputer)
    for path, text in NOTES.items():
        (computer.vault / path).parent.mkdir(parents=True, exist_ok=True)
        (computer.vault / path).write_text(text)
    done = computer.command("setup", "--yes", "--modules", "brain")
    assert done.returncode == 0, done.stderr
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
