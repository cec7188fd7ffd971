"""Conversations, a journal and knowledge to look at."""

import struct
import zlib
from typing import Any

from tests.browser.console import furnishing
from tests.support.computer import Computer

ENTRIES = (
    (
        0,
        "",
        "Coffee with **Maria** in the garden. She brought seeds:\n\n- tomatoes\n- basil\n- sweet peas\n\nWe begin on Saturday. #garden #home",
    ),
    (
        0,
        "An idea for the choir",
        "Could we sing *outside* in June? Ask Kevin about the park, and whether the neighbours mind.",
    ),
    (1, "", "Rain all day. Read about tides, and fixed the chain of the red bicycle."),
    (2, "", "Kevin called: the rehearsal moves to Thursday."),
    (4, "", "Walked along the river for two hours."),
    (5, "Grateful for", "Quiet, bread, and a letter from Lisbon."),
    (7, "", "Dug the bed for the peas, and found a horseshoe. #garden"),
    (9, "", "First frost."),
)


def furnish_lists(computer: Computer) -> None:
    """Put something into every list."""
    sessions = furnishing.add_conversations(computer)
    furnishing.add_workspace(computer, "Garden", sessions[:1])
    furnishing.add_workspace(computer, "Choir", sessions[5:6])
    furnishing.add_claude_code(computer)
    furnish_knowledge(computer)
    furnish_journal(computer)


PEOPLE = {
    "Maria Costa": "Gardens, and sings alto. Lives in Lisbon half of the year, near [[Beatriz Costa]].",
    "Kevin Nguyen": "Leads the [[Choir]]. Knows [[Maria Costa]] from school.",
    "Beatriz Costa": "Sister of [[Maria Costa]], a potter.",
    "Jonas Weber": "Tenor in the [[Choir]]; repairs bicycles.",
    "Aunt Ruth": "Taught me to bake. See [[Sourdough]].",
    "Samira Haddad": "Neighbour. Lends her ladder for the [[Garden]].",
}
PROJECTS = {
    "Garden": "The bed behind the house, with [[Maria Costa]].\n\n## Recent Activity\n\n- Seeds are here: tomatoes, basil, [[Sweet peas]]\n- Ask about `[[water]]` in the evening",
    "Choir": "Thursdays. In June outside, in the [[Park]].",
    "Red bicycle": "From [[Jonas Weber]]. The chain is new.",
}
TOPICS = {
    "Tides": "The moon, and why there are two a day.",
    "Sourdough": "Flour, water, salt and time. A recipe of [[Aunt Ruth]].",
    "Sweet peas": "Sow them early. For the [[Garden]].",
    "Park": "By the river. The [[Choir]] may sing there until nine.",
    "Lisbon": "[[Maria Costa]] and [[Beatriz Costa]] live there.",
}


def furnish_knowledge(computer: Computer) -> str:
    """People, projects and topics that link to each other; the id of the garden."""
    furnishing.install(computer, "brain")
    for name, text in PEOPLE.items():
        furnishing.add_entity(computer, "person", name, text)
    for name, text in TOPICS.items():
        furnishing.add_entity(computer, "topic", name, text)
    ids = {}
    for name, text in PROJECTS.items():
        links = {"relationships": ["[[Samira Haddad]] - lends a ladder"]} if name == "Garden" else {}
        ids[name] = furnishing.add_entity(
            computer, "project", name, text, status="active", tags=["home"], aliases=[f"The {name.lower()}"], **links
        )
    return ids["Garden"]


def add_recording(computer: Computer) -> dict[str, Any]:
    """An entry of today that was spoken, and has no text."""
    path = furnishing.call(computer, "POST", f"/api/daily/assets/voice.wav?date={furnishing.day()}", content=sound())
    body = {"content": "", "date": furnishing.day(), "audio_path": path["path"], "duration": 1}
    return dict(furnishing.call(computer, "POST", "/api/daily/entries", json=body))


def furnish_journal(computer: Computer) -> None:
    """Entries of some days, with a picture, a recording, an earlier version and a reflection."""
    furnishing.install(computer, "daily")
    for days_ago, title, content in ENTRIES:
        furnishing.add_entry(computer, content, days_ago, title)
    path = furnishing.call(computer, "POST", f"/api/daily/assets/seeds.png?date={furnishing.day()}", content=picture())
    furnishing.add_entry(computer, f"The bed behind the house:\n\n![The bed]({path['path']})")
    entry = add_recording(computer)
    furnishing.call(computer, "PUT", f"/api/daily/entries/{entry['id']}", json={"content": "A tune for Thursday."})
    text = "You planned a garden today, and it made you light. **What would you like to see from the kitchen window?**"
    furnishing.call(computer, "PUT", f"/api/daily/reflections/{furnishing.day()}", json={"content": text})


def picture(width: int = 480, height: int = 240) -> bytes:
    """A PNG: green below a light sky."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(
        b"\0" + (b"\xcf\xe3\xee" if y < height * 0.45 else bytes((70, 120 - y // 8, 60))) * width for y in range(height)
    )
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def sound(seconds: int = 1) -> bytes:
    """A WAV of silence."""
    data = b"\0\0" * 8000 * seconds
    form = struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF",
        36 + len(data),
        b"WAVE",
        b"fmt ",
        16,
        1,
        1,
        8000,
        16000,
        2,
        16,
        b"data",
        len(data),
    )
    return form + data
