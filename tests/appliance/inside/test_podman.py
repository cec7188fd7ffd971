"""Podman itself keeps to what builds expect of it."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sandbox.image.podman_contract import *  # noqa: F403 - the tests
from tests.sandbox.image.podman_contract import Images


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder of trust."""
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def images(monkeypatch: pytest.MonkeyPatch) -> Iterator[Images]:
    """Images of an empty store, in memory: the guest's root is an overlay already."""
    data = Path(os.environ["XDG_RUNTIME_DIR"], "store")
    monkeypatch.setenv("XDG_DATA_HOME", str(data))

    def images() -> dict[str, list[str]]:
        said = subprocess.run(["podman", "image", "list", "--format=json"], capture_output=True, check=True).stdout
        return {each["Id"]: each.get("Names", []) for each in json.loads(said)}

    yield images
    subprocess.run(["podman", "system", "reset", "--force"], check=True)
    shutil.rmtree(data)
