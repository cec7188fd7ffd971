"""An image that was built, on a disk larger than itself; left out of runs that do not name this folder."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from packages import program
from tests.board.machine import SECONDS, Board
from tests.support.naming import is_named

FOLDER = Path(__file__).parent
_DISK_BYTES = 8 << 30


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave them out unless they are named: an image has to be built first, as `make board` says."""
    return None if is_named(config, FOLDER) else True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give these tests the time of boots on an emulated processor."""
    for item in items:
        if item.path.is_relative_to(FOLDER):
            item.add_marker(pytest.mark.timeout(3 * SECONDS))


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The disk of the image, unpacked."""
    image = next((program.TREE / "build").glob(f"parachute-pc_{program.VERSION}_*.img.zst"), None)
    if image is None:
        pytest.fail("There is no image:  make image BOARD=pc", pytrace=False)
    path = tmp_path_factory.mktemp("board") / "disk.raw"
    subprocess.run(["zstd", "--quiet", "--decompress", str(image), "-o", str(path)], check=True)
    with path.open("r+b") as file:
        file.truncate(_DISK_BYTES)
    yield path
    path.unlink()


@pytest.fixture(scope="module")
def board(disk: Path) -> Iterator[Board]:
    """A PC with that disk, switched off."""
    with Board(disk) as machine:
        yield machine
