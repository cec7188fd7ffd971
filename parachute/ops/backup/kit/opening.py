"""A repository that is opened with what stands on the kit alone: no setting, password, cache or key of this computer."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from parachute.base.files import atomic_write, private_folder
from parachute.ops.backup.access import find
from parachute.ops.backup.kit.models import Kit
from parachute.ops.backup.places import Places
from parachute.ops.backup.repository import Repository
from parachute.ops.backup.restic import Alone, Restic

_PROBE_SECONDS = 20


@contextmanager
def opened_alone(kit: Kit, here: Places, place: Path | None = None) -> Iterator[Repository]:
    """The repository for the block; what it needs lies in a new folder, which is removed after it.

    Of the folders of this computer, `here`, restic sees nothing where bubblewrap works, but for `place`, where something may be
    restored. Errors: InvalidInput, OSError.
    """
    with tempfile.TemporaryDirectory(prefix="kit-", dir=place or here.folder) as name:
        folder = Path(name).resolve()
        password = folder / "password"
        atomic_write(password, f"{kit.password}\n", 0o600)
        places = Places(private_folder(folder / "state"), folder / "vault")
        found = find(places, kit.repository, password, None, kit.variables)
        top = place.resolve() if place is not None else folder
        # A key of ssh and what rclone knows are files of the person's: the kit says so.
        home = None if kit.needs else folder
        alone = Alone(_confined(top, found.folder, here), home, folder)
        yield Repository(Restic(places, found, alone=alone))


def _confined(folder: Path, repository: Path | None, here: Places) -> tuple[str, ...]:
    """Return the command before restic's, so that it sees neither our state nor our vault, and no network if its repository is on a disk."""
    hidden = [path.resolve() for path in (here.home, here.vault) if path.is_dir()]
    seen = [folder, *([repository.resolve()] if repository is not None and repository.is_dir() else [])]
    command = [
        *("bwrap", "--die-with-parent", "--unshare-ipc", "--unshare-uts"),
        *(("--unshare-net",) if repository is not None else ()),
        *("--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev"),
        *(word for path in hidden for word in ("--tmpfs", str(path))),
        *(word for path in seen for word in ("--bind", str(path), str(path))),
        "--",
    ]
    return tuple(command) if shutil.which("bwrap") and _works(command) else ()


def _works(command: list[str]) -> bool:
    try:
        ended = subprocess.run([*command, "true"], capture_output=True, timeout=_PROBE_SECONDS, check=False)
        return ended.returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False
