"""The text in a picture is read where the machine has the program for it."""

import shutil
import struct
import zlib
from pathlib import Path

import pypdfium2
import pytest

from parachute.files.documents.program import picture
from parachute.files.documents.program.text import Text, Unreadable
from parachute.files.documents.reading import NotRead, read
from tests.files.documents.writing import pdf

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed"),
]


def _png(width: int, height: int, stride: int, rows: bytes) -> bytes:
    """A picture in grey."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines = b"".join(b"\0" + rows[line * stride : line * stride + width] for line in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    packed = zlib.compress(lines)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def _drawn(words: str) -> bytes:
    """A picture of a page with these words."""
    document = pypdfium2.PdfDocument(pdf([words]))
    bitmap = document[0].render(scale=2, grayscale=True)
    return _png(bitmap.width, bitmap.height, bitmap.stride, bytes(bitmap.buffer))


async def test_words_in_a_picture(tmp_path: Path) -> None:
    file = tmp_path / "a.png"
    file.write_bytes(_drawn("Kevin advises us on the boat"))
    with file.open("rb") as opened:
        assert "Kevin advises us on the boat" in await read(opened, "picture")


async def test_list_of_pictures_is_no_picture(tmp_path: Path) -> None:
    other, file = tmp_path / "other.png", tmp_path / "a.png"
    other.write_bytes(_drawn("Kevin advises us on the boat"))
    file.write_text(f"{other}\n")
    # As where no sandbox hides the other one.
    with file.open("rb") as opened, pytest.raises(Unreadable):
        picture.read(opened, Text())


@pytest.mark.parametrize("data", [b"", b"\x89PNG\r\n\x1a\nnoise", _png(60_000, 60_000, 0, b"")])
async def test_broken_picture_costs_only_itself(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "a.png"
    file.write_bytes(data)
    with file.open("rb") as opened, pytest.raises(NotRead):
        await read(opened, "picture")
