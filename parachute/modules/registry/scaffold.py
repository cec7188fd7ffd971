"""Writing a new module: a small one that works, with its tests, to be changed by its author."""

import secrets
from pathlib import Path
from string import Template

from parachute.base.errors import Conflict, InvalidInput
from parachute.base.files import remove_tree
from parachute.modules.registry.names import check_name

_TEMPLATE = Path(__file__).with_name("template")
_SUFFIX = ".template"


def create_module(name: str, parent: Path) -> Path:
    """Write a module into the new folder `parent/name` and return that; errors: NameNotAllowed, Conflict, InvalidInput."""
    check_name(name)
    if not parent.is_dir():
        raise InvalidInput(f"There is no folder {parent}.", key="no_such_folder")
    target = parent / name
    if target.exists() or target.is_symlink():
        raise Conflict(
            f"{target} is there already.", "Choose another name, or another folder with --into.", key="exists"
        )
    words = [word for word in name.replace("_", "-").split("-") if word]
    title = " ".join(word.capitalize() for word in words)
    values = {
        "name": name,
        "title": title,
        "folder": title,
        "identifier": name.replace("-", "_"),
        "class_name": "".join(word.capitalize() for word in words) + "Module",
    }
    staging = parent / f".{name}.{secrets.token_hex(4)}"
    try:
        for path in sorted(_TEMPLATE.rglob(f"*{_SUFFIX}")):
            relative = path.relative_to(_TEMPLATE)
            # A file with this name in our own repository would rule it.
            file_name = ".gitignore" if relative.stem == "gitignore" else relative.stem
            file = staging / relative.parent / file_name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(Template(path.read_text()).substitute(values))
        staging.rename(target)
    except BaseException:
        remove_tree(staging)
        raise
    return target
