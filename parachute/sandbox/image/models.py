"""The image that was built, as it is remembered between starts."""

import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path

from parachute.base.errors import InvalidInput
from parachute.base.files import atomic_write, read_regular

_LIMIT = 256 * 1024
_ID = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Image:
    """An image that a trial container has run from; `id` is what is run, `built_at` is in ISO 8601.

    `packages` are the versions by name; empty where they are not known. `earlier` are the ids of images that this one replaces:
    one that a container still runs from is removed by a later build.
    """

    id: str
    tag: str
    recipe: str
    built_at: str
    bytes: int
    packages: dict[str, str] = field(default_factory=dict)
    earlier: list[str] = field(default_factory=list)

    @classmethod
    def load(cls, folder: Path) -> "Image | None":
        """The image of an installation, or None if there is none; error: InvalidInput if it cannot be read."""
        path = _path(folder)
        try:
            image = cls(**json.loads(read_regular(path, _LIMIT)))
            texts = (image.id, image.tag, image.recipe, image.built_at, *image.packages.values())
            ids = (image.id, *image.earlier)
            if not all(isinstance(text, str) for text in texts) or not all(map(_ID.fullmatch, ids)):
                raise TypeError("a field has the wrong type")
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise InvalidInput(
                f"{path} does not describe an image: {error}.", "Build it: parachute sandbox build"
            ) from error
        return image

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
