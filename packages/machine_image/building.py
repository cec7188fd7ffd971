"""The build of an image: its root, its disk, the list of what is in it, and checksums beside them."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from packages import program
from packages.machine_image import contents, disk, lock, recipe, root

_TOOLS = {"mmdebstrap": "mmdebstrap", "zstd": "zstd", "unshare": "util-linux"}


def refuse(board: str) -> None:
    """See that it can be built here; error: SystemExit."""
    if board not in recipe.BOARDS:
        raise SystemExit(f"There is no board {board or 'without a name'}: make image BOARD={'|'.join(recipe.BOARDS)}")
    if program.architecture() != "amd64":
        raise SystemExit("An image for a PC is built on a PC: this machine has another processor.")
    if os.geteuid() != 0:
        raise SystemExit("An image has files of root and mounts others, which only root may: run it as root.")
    if missing := sorted({package for tool, package in _TOOLS.items() if not shutil.which(tool)}):
        raise SystemExit(f"Programs are missing:  apt-get install {' '.join(missing)}")


def keys(files: Iterable[Path]) -> list[str]:
    """The public keys in files; error: SystemExit for a file with anything else, such as a private key."""
    lines = [line for file in files for line in file.read_text().splitlines() if line.strip()]
    if any(not line.startswith(("ssh-", "ecdsa-", "sk-")) for line in lines):
        raise SystemExit("SSH_KEY has to be a file with public keys, such as ~/.ssh/id_ed25519.pub.")
    return lines


def build(board: str, target: Path, ssh_keys: Sequence[str] = ()) -> Path:
    """The compressed image in a folder, with its list and checksums; error: subprocess.CalledProcessError for a step that fails."""
    recipe.fix_times()
    locked = lock.read(board)
    target.mkdir(parents=True, exist_ok=True)
    name = f"parachute-{board}_{program.VERSION}_{program.architecture()}"
    with tempfile.TemporaryDirectory(prefix="machine-", dir=target) as made:
        folder = Path(made)
        built = root.build(folder, locked, ssh_keys)
        lock.compare(locked, lock.installed(built))
        listed = folder / f"{name}.spdx.json"
        listed.write_text(contents.spdx(built, name))
        image = folder / f"{name}.img.zst"
        disk.pack(disk.write(built, folder / "disk"), image)
        sums = folder / f"{name}.sha256"
        sums.write_text("".join(f"{_digest(file)}  {file.name}\n" for file in (image, listed)))
        for file in (listed, sums, image):
            file.rename(target / file.name)
    return target / image.name


def renew(board: str) -> Path:
    """Lock the newest versions that Debian has; the file."""
    recipe.fix_times()
    with tempfile.TemporaryDirectory(prefix="machine-") as made:
        lock.write(board, lock.installed(root.build(Path(made), {}, ())))
    return lock.path(board)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
