"""Folders of packages that a sandbox is given: those that are installed, with the libraries that their wheels bring."""

from pathlib import Path

import pytest

from parachute.sandbox.engines.bubblewrap import library_folders


def test_packages_come_with_the_libraries_beside_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("first_library", "first_library.libs", "second_library"):
        (tmp_path / name).mkdir()
    (tmp_path / "one_file_library.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert library_folders(["first_library", "second_library", "one_file_library", "library_that_is_missing"]) == {
        name: str(tmp_path / name) for name in ("first_library", "first_library.libs", "second_library")
    }
