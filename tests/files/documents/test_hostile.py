"""Hostile documents cost nobody but themselves: each is read by the real process, and so is a good one after it."""

from pathlib import Path

import psutil
import pytest

from parachute.base.errors import Unavailable
from parachute.files.documents.kinds import kind_of
from parachute.files.documents.program.text import LONGEST
from parachute.files.documents.reading import LARGEST, SECONDS, NotRead, read
from tests.files.documents.hostile import HOSTILE, SECRET
from tests.files.documents.writing import docx

pytestmark = pytest.mark.process

_SECONDS = 8.0
"""As long as one takes that never ends."""


async def _read(file: Path, seconds: float = SECONDS) -> str:
    with file.open("rb") as opened:
        return await read(opened, kind_of(file.name) or "", seconds)


@pytest.fixture
def good(tmp_path: Path) -> Path:
    file = tmp_path / "good.docx"
    file.write_bytes(docx([["Kevin advises us on the boat."]]))
    return file


@pytest.mark.long
@pytest.mark.parametrize("name", HOSTILE)
async def test_it_costs_only_itself(name: str, tmp_path: Path, good: Path) -> None:
    file = tmp_path / name
    file.write_bytes(HOSTILE[name]())
    reason, text = "", ""
    before = psutil.Process().children(recursive=True)
    try:
        text = await _read(file, _SECONDS)
    except NotRead as error:
        reason = error.reason
    assert reason in ("", "damaged", "encrypted", "no_text", "too_large", "too_much")
    assert len(text) <= LONGEST
    assert SECRET not in text
    assert not set(psutil.Process().children(recursive=True)) - set(before), "nothing of it is left"
    assert await _read(good) == "Kevin advises us on the boat.\n"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("empty.pdf", "damaged"),
        ("locked.pdf", "encrypted"),
        ("old.docx", "encrypted"),
        ("locked.docx", "encrypted"),
        ("locked.odt", "encrypted"),
        ("laughs.docx", "damaged"),
        ("entity.docx", "damaged"),
        ("outside.docx", "damaged"),
        ("many_members.docx", "too_large"),
        ("document.pdf", "damaged"),
    ],
)
async def test_reason_is_told(name: str, reason: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(HOSTILE[name]())
    with pytest.raises(NotRead) as caught:
        await _read(file)
    assert caught.value.reason == reason


async def test_large_file_is_not_opened(tmp_path: Path) -> None:
    file = tmp_path / "large.pdf"
    with file.open("wb") as opened:
        opened.truncate(LARGEST + 1)
    with pytest.raises(NotRead) as caught:
        await _read(file)
    assert caught.value.reason == "too_large"


async def test_process_is_ended_with_its_time(tmp_path: Path) -> None:
    file = tmp_path / "slow.html"
    file.write_bytes(b"<p>word" * 4_000_000)
    before = psutil.Process().children(recursive=True)
    # It may have begun by then, or not.
    with file.open("rb") as opened, pytest.raises((NotRead, Unavailable)):
        await read(opened, "html", 0.2)
    assert not set(psutil.Process().children(recursive=True)) - set(before)
