"""A small disk of its own below a folder, which a test can fill, and which can become read-only as after an error."""

import errno
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


class SmallDisk:
    """An ext4 file system that is mounted on `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ballast = folder / "ballast"

    def fill(self) -> None:
        """Leave no room for anything."""
        with self._ballast.open("ab", buffering=0) as file:
            for size in (1 << 20, 4096, 512, 1):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise

    def make_room(self) -> None:
        """Take back what `fill` did."""
        self._ballast.unlink()

    def fail(self) -> None:
        """Let the kernel find an error: from now on the disk can only be read, also by who has files open."""
        device = Path(run("findmnt", "--noheadings", "--output", "SOURCE", str(self.folder)).stdout.strip())
        Path("/sys/fs/ext4", device.name, "trigger_fs_error").write_text("1")
        try:
            (self.folder / "probe").touch()
        except OSError as error:
            if error.errno != errno.EROFS:
                raise
        else:
            pytest.skip("this kernel does not let a test make a disk read-only")

    @contextmanager
    def read_only(self) -> Iterator[None]:
        """Let it only be read for a while, but by who has files open: an error could not be taken back."""
        folder = str(self.folder)
        for options in (("--bind", folder), ("-o", "remount,bind,ro")):
            assert run("mount", *options, folder).returncode == 0
        try:
            yield
        finally:
            run("umount", "--lazy", folder)


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """One program of the system."""
    return subprocess.run(command, capture_output=True, text=True, check=False)


@contextmanager
def small_disk(folder: Path, megabytes: int = 64) -> Iterator[SmallDisk]:
    """Mount one on an empty folder; skips where this may not be done."""
    if os.geteuid():
        pytest.skip("only root mounts a disk")
    descriptor, name = tempfile.mkstemp(prefix="pc-disk-", dir="/tmp")
    os.truncate(descriptor, megabytes << 20)
    os.close(descriptor)
    try:
        # No blocks are kept for root, or root would find room on a full disk.
        made = run("mkfs.ext4", "-q", "-m", "0", name)
        mounted = made if made.returncode else run("mount", "-o", "loop,errors=remount-ro", name, str(folder))
        if mounted.returncode:
            pytest.skip(f"no disk can be mounted here: {mounted.stderr.strip()}")
        try:
            folder.chmod(0o700)
            yield SmallDisk(folder)
        finally:
            run("umount", "--lazy", str(folder))
    finally:
        Path(name).unlink()
