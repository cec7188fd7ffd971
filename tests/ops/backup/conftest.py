"""An installation for each test; its empty repository is made once, since restic takes seconds for that."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from .installation import Installation
from .quick_key import open_quickly


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without restic there is nothing to test here."""
    if shutil.which("restic") is None:
        here = str(Path(__file__).parent)
        for item in items:
            if str(item.path).startswith(here):
                item.add_marker(pytest.mark.skip(reason="needs restic: `make test-deps` installs it"))


@pytest.fixture(scope="session")
def empty_repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty repository and its password."""
    folder = tmp_path_factory.mktemp("restic")
    first = Installation(None)
    shutil.copytree(first.repository_folder, folder / "repository")
    shutil.copy2(first.access.password_file, folder / "password")
    open_quickly(folder / "repository", (folder / "password").read_text().strip())
    first.close()
    return folder


@pytest.fixture
def installation(empty_repository: Path) -> Iterator[Installation]:
    """A vault, a state directory and an empty repository."""
    found = Installation(empty_repository)
    yield found
    found.close()
