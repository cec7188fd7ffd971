"""The process that reads a document: it has nothing but the file, and one that does not start says nothing of a file."""

import os
from pathlib import Path

import pytest

from parachute.files.documents import confinement
from parachute.files.documents.reading import read, sealed
from tests.files.documents.writing import docx, pdf
from tests.support.errors import raises

pytestmark = pytest.mark.process

_SAID = "Kevin advises us on the boat."


async def _read(folder: Path, kind: str, data: bytes) -> str:
    file = folder / "file"
    file.write_bytes(data)
    with file.open("rb") as opened:
        return await read(opened, kind)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder in which programs are looked for."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


async def test_nothing_is_read_without_bubblewrap(tmp_path: Path, programs: Path) -> None:
    with raises("no_confinement"):
        await _read(tmp_path, "pdf", pdf([_SAID]))


async def test_sandbox_that_does_not_start_says_nothing_about_the_file(tmp_path: Path, programs: Path) -> None:
    (programs / "bwrap").write_text("#!/bin/sh\nexit 1\n")
    (programs / "bwrap").chmod(0o700)
    with raises("reader_missing"):
        await _read(tmp_path, "docx", docx([[_SAID]]))


async def test_what_is_given_cannot_be_changed(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"as it was")
    with file.open("rb") as opened, sealed(opened) as given:
        assert os.read(given.fileno(), 100) == b"as it was"
        with pytest.raises(PermissionError):
            os.pwrite(given.fileno(), b"x", 0)
        with open(f"/proc/self/fd/{given.fileno()}", "r+b", buffering=0) as again, pytest.raises(PermissionError):
            again.write(b"x")
    assert file.read_bytes() == b"as it was"


def test_sandbox_has_no_network_and_no_folder_to_write() -> None:
    command = confinement.command("pdf")
    assert "--unshare-net" in command
    assert not {"--bind", "--bind-try", "--bind-fd", "--share-net"}.intersection(command)
