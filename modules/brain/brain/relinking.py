"""Links to an entity that was renamed."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePosixPath

from . import front_links, wiki, yaml_text
from .entity import Unreadable, read
from .found import Found
from .names import fold
from .resolving import lies_at


def renaming(targets: set[str], old: Found, new: Found, name: str, stem: str) -> Callable[[str], str | None]:
    """New targets of links: a file's name becomes the file's new name, a name the new one.

    `targets` are those that led to the renamed entity, `name` and `stem` what leads to it now.
    """
    old_path, new_path = (PurePosixPath(found.path).with_suffix("") for found in (old, new))

    def renamed(target: str) -> str | None:
        target = target.strip()
        if target not in targets:
            return None
        if "/" in target and fold(target) != fold(old.name):
            if lies_at(old.path, target):
                return "/".join(new_path.parts[-1 - target.count("/") :])
            return f"{target.rpartition('/')[0]}/{new_path.name}"
        if fold(target) != fold(old_path.name):
            return name
        # Other programs find a file by its name in any case, and by nothing else.
        if fold(old_path.name) == fold(stem):
            return target
        return name if target == old.name and target != old_path.name else stem

    return renamed


def relinked(path: str, data: bytes, renamed: Callable[[str], str | None]) -> bytes:
    """The file of an entity with links to another one that was renamed; as it is written, where that is possible. Error: Unreadable."""
    entity = read(path, data)
    body = wiki.rewrite(entity.body, renamed)
    changes = front_links.rename(entity.said, renamed)
    front = wiki.rewrite(entity.front, renamed)
    try:
        as_written = bool(entity.problem) or yaml_text.read(front) == {**entity.said, **changes}
    except yaml_text.NotYaml:
        as_written = False  # such as a name with a quotation mark
    new = replace(entity, front=front).changed({}, body) if as_written else entity.changed(changes, body)
    if (problem := read(path, new).problem) and not entity.problem:
        raise Unreadable(problem)
    return new
