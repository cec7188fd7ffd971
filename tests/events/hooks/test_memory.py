"""The file of memories: it only grows at its end, also under several writers, and is read in part."""

import subprocess
import sys
from pathlib import Path

import pytest

from parachute.events.hooks import memory

pytestmark = pytest.mark.long


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return the path of the memory."""
    return tmp_path / "parachute" / "memory.md"


def test_it_is_made_on_first_use_and_grows_at_its_end(tmp_path: Path, file: Path) -> None:
    assert memory.newest(tmp_path) == ""
    assert not file.parent.exists()
    memory.append(tmp_path, "2026-01-31 09:00 · Stars", ["The telescope is Ottilie's.", "Open: a tripod."])
    first = file.read_text()
    assert first.startswith("# Memory\n")
    assert first.endswith("\n## 2026-01-31 09:00 · Stars\n\n- The telescope is Ottilie's.\n- Open: a tripod.\n")
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_text(first + "My own line, without an end")
    memory.append(tmp_path, "2026-02-01", ["More."])
    assert file.read_text() == f"{first}My own line, without an end\n\n## 2026-02-01\n\n- More.\n"
    assert memory.newest(tmp_path) == file.read_text().strip()


def test_only_the_newest_entries_are_read(tmp_path: Path, file: Path) -> None:
    for number in range(100):
        memory.append(tmp_path, f"2026-01-31 · {number}", ["ü" * 200])
    found = memory.newest(tmp_path)
    assert len(found.encode()) <= memory.NEWEST
    assert found.startswith("## 2026-01-31 · ")
    assert found.endswith("ü" * 200)
    assert "· 99\n" in found
    assert "· 0\n" not in found
    file.write_text("a" * 10_000 + "\n" + "b" * 100)
    assert memory.newest(tmp_path) == "b" * 100


def test_two_programs_lose_nothing_of_each_other(tmp_path: Path, file: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from parachute.events.hooks.memory import append\n"
        "for number in range(50): append(Path(sys.argv[1]), f'{sys.argv[2]} {number}', ['x' * 5000])"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name]) for name in ("one", "two")]
    assert [writer.wait(180) for writer in writers] == [0, 0]
    text = file.read_text()
    for name in ("one", "two"):
        places = [text.index(f"\n## {name} {number}\n\n- {'x' * 5000}\n") for number in range(50)]
        assert places == sorted(places)
    assert text.count("# Memory") == 1


@pytest.mark.parametrize("linked", ["parachute", "parachute/memory.md"])
def test_no_link_is_followed(tmp_path: Path, linked: str) -> None:
    vault, outside = tmp_path / "vault", tmp_path / "outside"
    (vault / linked).parent.mkdir(parents=True)
    outside.mkdir()
    (outside / "memory.md").write_text("mine")
    (vault / linked).symlink_to(outside if linked == "parachute" else outside / "memory.md")
    with pytest.raises(OSError):
        memory.newest(vault)
    with pytest.raises(OSError):
        memory.append(vault, "2026-01-31", ["x"])
    assert (outside / "memory.md").read_text() == "mine"


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, file: Path) -> None:
    memory.append(tmp_path, "2026-01-31", ["x"])
    before = file.read_bytes()
    code = (
        "import resource, signal, sys; from pathlib import Path; from parachute.events.hooks.memory import append\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) + 100},) * 2)\n"
        "append(Path(sys.argv[1]), '2026-02-01', ['y' * 5000])"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, timeout=180)
    assert ran.returncode == 1
    assert b"OSError" in ran.stderr
    assert file.read_bytes() == before
