"""The image that was built, as it is remembered between starts."""

import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from parachute.base.errors import InvalidInput
from parachute.base.files import atomic_write, read_regular
from parachute.sandbox.image.contents import PROGRAMS, upstream, versions

_LIMIT = 256 * 1024
_ID = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Image:
    """An image that a trial container has run from; `id` is what is run, `built_at` is in ISO 8601.

    `packages` are the versions by name; empty where they are not known. `shares` are the bytes by which it would be smaller without
    one that was asked for. `earlier` are the ids of images that this one replaces: one that a container still runs from is removed
    by a later build.
    """

    id: str
    tag: str
    recipe: str
    built_at: str
    bytes: int
    packages: dict[str, str] = field(default_factory=dict)
    shares: dict[str, int] = field(default_factory=dict)
    earlier: list[str] = field(default_factory=list)

    @classmethod
    def load(cls, folder: Path) -> "Image | None":
        """The image of an installation, or None if there is none; error: InvalidInput if it cannot be read."""
        path = _path(folder)
        try:
            image = cls(**json.loads(read_regular(path, _LIMIT)))
            texts = (image.id, image.tag, image.recipe, image.built_at, *image.packages.values())
            ids = (image.id, *image.earlier)
            if (
                not all(isinstance(text, str) for text in texts)
                or not all(map(_ID.fullmatch, ids))
                or not all(isinstance(size, int) for size in image.shares.values())
            ):
                raise TypeError("a field has the wrong type")
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise InvalidInput(
                f"{path} does not describe an image: {error}.",
                "Build it: parachute sandbox build",
                key="image_unreadable",
            ) from error
        return image

    def as_json(self) -> dict[str, Any]:
        """The form of the API and `--json`, with what is in it; `bytes` of a part are those that it alone needs."""
        return {**asdict(self), "contents": self.contents()}

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
        atomic_write(_path(folder), json.dumps(asdict(self)))


def changed(folder: Path) -> int | None:
    """A number that is another one after each build, or None without an image."""
    try:
        return _path(folder).stat().st_mtime_ns
    except FileNotFoundError:
        return None


def _path(folder: Path) -> Path:
    return folder / "image.json"
