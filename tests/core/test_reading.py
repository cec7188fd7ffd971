"""Cost of reading a file."""

import tracemalloc
from pathlib import Path

from parachute.core.files import Files


async def test_a_small_file_takes_little_memory(tmp_path: Path) -> None:
    (tmp_path / "Notes").mkdir()
    (tmp_path / "Notes" / "a.md").write_text("text")
    (tmp_path / "Notes" / "large.bin").write_bytes(b"x" * 1_000_000)
    files = Files(tmp_path, read=["Notes/**"])
    tracemalloc.start()
    try:
        assert await files.read("Notes/a.md") == "text"
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
        assert len(await files.read_bytes("Notes/large.bin")) == 1_000_000
    finally:
        tracemalloc.stop()
