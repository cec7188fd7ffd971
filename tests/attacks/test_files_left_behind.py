"""D8: what programs that were killed had begun to write is collected at the start, and nothing else is."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from parachute.base.unfinished import UNFINISHED
from tests.modules.runtime.module_computer import ModuleComputer

pytestmark = pytest.mark.long

_WRITER = """
import os, signal, sys
from pathlib import Path
sys.addaudithook(lambda event, arguments: event == "os.rename" and os.kill(os.getpid(), signal.SIGKILL))
{write}
"""
_WRITERS = (
    "from parachute.base.files import atomic_write; atomic_write(Path(sys.argv[1]) / 'notes.yaml', 'x')",
    "from parachute.base.folders import Folder; "
    "folder = Folder.open(Path(sys.argv[1])); "
    "new = folder.replacement('day.md'); new.write(b'x'); new.commit()",
)


def kill_while_writing(folder: Path) -> list[Path]:
    """Return the files left by writers that are killed before their file gets its name."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    before = set(folder.iterdir())
    for write in _WRITERS:
        done = subprocess.run([sys.executable, "-c", _WRITER.format(write=write), str(folder)], check=False)
        assert done.returncode < 0
    return sorted(set(folder.iterdir()) - before)


@pytest.mark.computer
def test_what_killed_programs_have_begun_is_removed_at_the_start() -> None:
    own = ModuleComputer()
    own.vault.mkdir()
    folders = (
        own.home.root,
        own.vault / "Daily",
        own.vault / ".parachute",
        own.home.root / "module-data/daily/versions",
    )
    left = [path for folder in folders for path in kill_while_writing(folder)]
    assert len(left) == 2 * len(folders)
    assert all(UNFINISHED.fullmatch(path.name) for path in left)
    kept = [
        own.vault / "Daily" / ".hidden",
        own.vault / "Projects" / ".cache.0123456789ab",
        own.vault / "Daily" / "day.0123456789ab",
    ]
    for path in kept:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    young = own.vault / "Daily" / ".day.md.0123456789ab"
    young.write_text("is being written")
    link = own.vault / "Daily" / ".link.0123456789ab"
    link.symlink_to(kept[0])
    old = time.time() - 3600
    for path in (*left, *kept, link):
        os.utime(path, (old, old), follow_symlinks=False)
    with own:
        own.wait_until(lambda: not any(path.exists() for path in left), "they are gone")
        assert all(path.exists() for path in (*kept, young))
        assert link.is_symlink()
