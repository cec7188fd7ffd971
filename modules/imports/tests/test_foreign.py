"""Exports of other programs are refused by their name, and archives are read as those who made them meant them."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from reading_once import read

from tests.chat.imports.exports import packed

LIBRECHAT = {"conversationId": "8", "endpoint": "openAI", "messages": [{"messageId": "1", "text": "Hello"}]}
GEMINI = [{"header": "Gemini Apps", "title": "Prompted hello", "time": "2026-01-01T00:00:00.000Z"}]
DEEPSEEK = [{"id": "d", "mapping": {"1": {"message": {"fragments": [{"type": "REQUEST", "content": "Hi"}]}}}}]


@pytest.mark.parametrize("kind", ["chatgpt", "claude", "lmstudio"])
@pytest.mark.parametrize(
    ("value", "program"),
    [(LIBRECHAT, "LibreChat"), (GEMINI, "Gemini"), (DEEPSEEK, "DeepSeek")],
)
def test_an_export_of_another_program_is_named(tmp_path: Path, kind: str, value: Any, program: str) -> None:
    found = read(tmp_path, json.dumps(value).encode(), kind)
    assert (found.conversations, [program in sentence for sentence in found.errors]) == ([], [True])


def test_an_archive_of_another_program_is_named(tmp_path: Path) -> None:
    data = packed({"Takeout/My Activity/Gemini Apps/MyActivity.json": json.dumps(GEMINI)})
    for kind in ("chatgpt", "openwebui", "librechat"):
        (sentence,) = read(tmp_path, data, kind).errors
        assert "Gemini" in sentence
    search = packed({"Takeout/My Activity/Search/MyActivity.json": json.dumps(GEMINI)})
    (sentence,) = read(tmp_path, search).errors
    assert "Google Takeout" in sentence


@pytest.mark.parametrize("value", [[1, 2], {"a": 1}, {"data": [{"x": 1}]}, [{"title": "?"}]])
def test_what_nobody_knows_is_no_success(tmp_path: Path, value: Any) -> None:
    assert len(read(tmp_path, json.dumps(value).encode()).errors) == 1


def test_names_in_utf_8_that_do_not_say_so(tmp_path: Path) -> None:
    path = tmp_path / "finder.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("Notes/Ubersicht.md", "A")
        archive.writestr("Notes/\N{LATIN SMALL LETTER U WITH DIAERESIS}.md", "B")
    name = "U\u0308bersicht"
    data = path.read_bytes().replace(b"Ubersicht", name.encode()[:9].ljust(9, b"-"))
    found = read(tmp_path, data, "obsidian")
    assert sorted(found.files) == [f"{name.encode()[:9].decode()}.md", "\N{LATIN SMALL LETTER U WITH DIAERESIS}.md"]


def test_separators_of_windows(tmp_path: Path) -> None:
    data = packed({"Notes-Boats-a.md": "A", "Notes-..-b.md": "B"})
    data = data.replace(b"Notes-Boats-a.md", b"Notes\\Boats\\a.md").replace(b"Notes-..-b.md", b"Notes\\..\\b.md")
    found = read(tmp_path, data, "obsidian")
    assert (found.files, found.left_out) == ({"Boats/a.md": b"A"}, {"unsafe_names": 1})


def test_what_is_nested_too_deeply_is_no_success(tmp_path: Path) -> None:
    message: dict[str, Any] = {}
    for _ in range(60):
        message = {"children": [message]}
    assert len(read(tmp_path, json.dumps([{**LIBRECHAT, "messages": [message]}]).encode()).errors) == 1
