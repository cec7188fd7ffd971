"""Kills an installation at every step in which it changes a file: `python -m tests.capabilities.plugins.crashing FOLDER URL NEWER`.

Prints a JSON list with what a person finds after each crash.
"""

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from parachute.base.errors import NotFound
from parachute.capabilities.plugins.installation import staged_install, staged_update
from tests.capabilities.plugins.building import Installation
from tests.support.crashing import at_every_step


def main() -> None:
    """First a new plugin, then an update of one that is there."""
    installation, source = Installation(Path(sys.argv[1])), Path(sys.argv[2])
    library, catalog = installation.library, installation.catalog
    branch = source / "HEAD"

    def install(begin: Callable[[], None] = lambda: None) -> None:
        with staged_install(library, source.as_uri(), "demo", local=True) as staged:
            begin()
            staged.finish(catalog, texts=True, programs=True)

    def update(begin: Callable[[], None] = lambda: None) -> None:
        with staged_update(library, "demo") as staged:
            begin()
            staged.finish(catalog, texts=True, programs=True)

    def prepare_new() -> None:
        branch.write_text("ref: refs/heads/main\n")
        with suppress(NotFound):
            library.remove("demo", catalog)

    def prepare_update() -> None:
        prepare_new()
        install()
        branch.write_text("ref: refs/heads/newer\n")

    found = []
    for is_update, prepare, change in ((False, prepare_new, install), (True, prepare_update, update)):
        steps = at_every_step(prepare, change, lambda: _look(installation))
        found += [{"update": is_update, **step} for step in steps]
    json.dump(found, sys.stdout)


def _look(installation: Installation) -> dict[str, Any]:
    """What a person finds, and what is left once it was tidied up."""
    library = installation.library
    plugins = library.list()
    library.tidy()
    return {
        "versions": [plugin.contents.version if plugin.contents else None for plugin in plugins],
        "programs": [plugin.has_programs for plugin in plugins],
        "folders": sorted(str(path.relative_to(library.places.folder)) for path in library.places.folder.glob("*/*")),
        "left": sorted(path.name for path in library.places.folder.glob(".*")),
    }


if __name__ == "__main__":
    main()
