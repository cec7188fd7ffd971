"""The image that was built, as it is remembered between starts."""

from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, field, to_builtins

from parachute.base.errors import InvalidInput
from parachute.base.files import atomic_write, read_regular
from parachute.sandbox.image.contents import PROGRAMS, upstream, versions

_LIMIT = 256 * 1024
ImageId = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]


class Image(Struct, frozen=True, forbid_unknown_fields=True):
    """An image that a trial container has run from; `id` is what is run, `built_at` is in ISO 8601.

    `packages` are the versions by name; empty where they are not known. `shares` are the bytes by which it would be smaller without
    one that was asked for. `earlier` are the ids of images that this one replaces: one that a container still runs from is removed
    by a later build.
    """

    id: ImageId
    tag: str
    recipe: str
    built_at: str
    bytes: int
    packages: dict[str, str] = field(default_factory=dict)
    shares: dict[str, int] = field(default_factory=dict)
    earlier: list[ImageId] = field(default_factory=list)

    @classmethod
    def load(cls, folder: Path) -> "Image | None":
        """The image of an installation, or None if there is none; error: InvalidInput if it cannot be read."""
        path = _path(folder)
        try:
            return msgspec.json.decode(read_regular(path, _LIMIT), type=cls)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise InvalidInput(
                f"{path} does not describe an image: {error}.",
                "Build it: parachute sandbox build",
                key="image_unreadable",
            ) from error

    def as_json(self) -> dict[str, Any]:
        """The form of the API and `--json`, with what is in it; `bytes` of a part are those that it alone needs."""
        return {**to_builtins(self), "contents": self.contents()}

    def contents(self) -> list[dict[str, Any]]:
        """The programs in it, and the packages that were added; empty where the packages are not known."""
        found = versions(self.packages)
        rows = [(each.name, each.debian, found[each.name]) for each in PROGRAMS if each.name in found]
        known = {each.debian for each in PROGRAMS}
        rows += [(name, name, upstream(self.packages[name])) for name in self.shares if name not in known]
        keys = ("name", "package", "version")
        return [{**dict(zip(keys, row, strict=True)), "bytes": self.shares.get(row[1])} for row in rows]

    def save(self, folder: Path) -> None:
        """Remember the image in the state directory."""
        atomic_write(_path(folder), msgspec.json.encode(self))


def changed(folder: Path) -> int | None:
    """A number that is another one after each build, or None without an image."""
    try:
        return _path(folder).stat().st_mtime_ns
    except FileNotFoundError:
        return None


def _path(folder: Path) -> Path:
    return folder / "image.json"
