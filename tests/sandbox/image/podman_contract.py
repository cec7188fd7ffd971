"""Contract between builds and Podman; a test module has the fixtures `home` and `images`, and imports all tests from here.

`make test` runs it with the program that stands for Podman, the booted appliance with Podman.
"""

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from parachute.base.errors import InvalidInput, Unavailable
from parachute.sandbox.image import building, recipe
from parachute.sandbox.image.models import Image

__all__ = [
    "test_a_root_that_podman_does_not_take_is_an_error_with_its_words",
    "test_an_image_is_there_under_its_tag_and_its_size_is_known",
    "test_one_that_does_not_work_leaves_the_one_before",
]

Images = Callable[[], dict[str, list[str]]]
"""Ids of the images that there are, with their tags."""


async def works(image: str) -> None:
    """A container of any image is as it has to be."""


async def fails(image: str) -> None:
    """No container is."""
    raise InvalidInput("The container is not shut in.")


def silent(line: str) -> None:
    """Nobody listens."""


def root(path: Path, mark: str) -> Path:
    """A tarball with a small root."""
    with tarfile.open(path, "w") as archive:
        for name in ("etc", "etc/parachute-recipe"):
            member = tarfile.TarInfo(f"./{name}")
            content = f"{mark}\n".encode() if "/" in name else b""
            member.type, member.mode = (tarfile.REGTYPE, 0o644) if content else (tarfile.DIRTYPE, 0o755)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


async def test_an_image_is_there_under_its_tag_and_its_size_is_known(
    home: Path, images: Images, tmp_path: Path
) -> None:
    tried = []

    async def attempt(image: str) -> None:
        tried.append(image)

    image = await building.build(home, silent, attempt, root(tmp_path / "one.tar", "one"))
    assert Image.load(home) == image
    assert tried == [image.id]
    assert images() == {image.id: [recipe.tag("one")]}
    assert image.bytes > 0


async def test_one_that_does_not_work_leaves_the_one_before(home: Path, images: Images, tmp_path: Path) -> None:
    one, two = root(tmp_path / "one.tar", "one"), root(tmp_path / "two.tar", "two")
    image = await building.build(home, silent, works, one)
    with pytest.raises(InvalidInput, match="not shut in"):
        await building.build(home, silent, fails, two)
    assert (Image.load(home), list(images())) == (image, [image.id])
    replaced = await building.build(home, silent, works, two)
    assert (Image.load(home), list(images())) == (replaced, [replaced.id])


async def test_a_root_that_podman_does_not_take_is_an_error_with_its_words(
    home: Path, images: Images, tmp_path: Path
) -> None:
    broken = root(tmp_path / "broken.tar", "broken")
    with pytest.raises(Unavailable, match="podman ended with status"):
        await building._import(broken.with_name("nowhere.tar"), "broken")
    assert images() == {}
