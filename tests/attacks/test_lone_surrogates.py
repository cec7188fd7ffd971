"""F6: half of a character in JSON is a mistake of the request, not a failure of the module."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from parachute.core import Module
from parachute.core.testing import run

HALF = "a\ud800b"
MODULES = Path(__file__).parents[2] / "modules"


def official(name: str, monkeypatch: pytest.MonkeyPatch) -> type[Module]:
    monkeypatch.syspath_prepend(str(MODULES / name))
    specification = importlib.util.spec_from_file_location(f"{name}_under_attack", MODULES / name / "module.py")
    assert specification
    assert specification.loader
    code = importlib.util.module_from_spec(specification)
    monkeypatch.setitem(sys.modules, specification.name, code)
    specification.loader.exec_module(code)
    return next(kind for kind in vars(code).values() if isinstance(kind, type) and kind.__module__ == code.__name__)


@pytest.mark.parametrize(
    ("module", "method", "path", "body"),
    [
        ("brain", "POST", "/resolve", {"text": HALF}),
        ("brain", "POST", "/suggest", {"text": HALF}),
        ("brain", "POST", "/context", {"topic": HALF}),
        ("brain", "POST", "/types", {"name": HALF}),
        ("brain", "POST", "/queries", {"name": HALF, "entity_type": HALF}),
        ("brain", "POST", "/link", {"source_id": HALF, "para_id": HALF}),
        ("brain", "POST", "/entities", {"type": "person", "name": HALF}),
        ("brain", "POST", "/entities", {"type": "person", "name": "Ann", "data": {HALF: HALF}}),
        ("daily", "POST", "/entries", {"content": HALF}),
        ("daily", "POST", "/entries", {"content": "x", "metadata": {"title": HALF}}),
        ("daily", "POST", "/entries", {"content": "x", "metadata": {HALF: 1}}),
        ("daily", "POST", "/sync/pull", {"root": "Daily", "paths": [f"journals/{HALF}.md"]}),
        ("daily", "PUT", "/reflections/2025-03-04", {"content": HALF}),
    ],
)
async def test_half_a_character_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, module: str, method: str, path: str, body: dict[str, Any]
) -> None:
    async with run(official(module, monkeypatch), folder=tmp_path) as running:
        answer = await running.request(method, path, body)
        assert answer.status == 422


async def test_one_such_file_does_not_hold_up_the_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    files = [{"path": f"journals/{name}.md", "content": "Text\n"} for name in (HALF, "2025-03-04")]
    async with run(official("daily", monkeypatch), folder=tmp_path) as daily:
        answer = await daily.post("/sync/push", {"root": "Daily", "files": files})
        assert answer.status == 200
        assert (daily.vault / "Daily/journals/2025-03-04.md").exists()


async def test_a_whole_character_in_two_escapes_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async with run(official("daily", monkeypatch), folder=tmp_path) as daily:
        answer = await daily.post("/entries", b'{"content": "\\ud83d\\ude00"}')
        assert (answer.status, answer.json()["content"]) == (200, "\U0001f600")
