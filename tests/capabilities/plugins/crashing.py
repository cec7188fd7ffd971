"""Kills an installation at every step in which it changes a file: `python -m tests.capabilities.plugins.crashing FOLDER`.

Prints a JSON list with what a person finds after each crash.
"""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from parachute.base.errors import NotFound
from parachute.capabilities.plugins.contents import read_contents
from parachute.capabilities.plugins.installation import Staged
from parachute.capabilities.plugins.models import Installed, Plugin
from parachute.capabilities.plugins.staging import staging_folder
from parachute.modules.trees.hashing import copy_tree
from tests.capabilities.plugins.building import Installation, write_plugin
from tests.support.crashing import at_every_step


def main() -> None:
    """First a new plugin, then an update of one that is there."""
    folder = Path(sys.argv[1])
    installation = Installation(folder / "state")
    old, new = write_plugin(folder / "old"), write_plugin(folder / "new", version="2.0.0")
    library, catalog = installation.library, installation.catalog

    @contextmanager
    def staged(source: Path, previous: Plugin | None = None) -> Iterator[Staged]:
        """Stage as after a fetch: git has no part in what is tested here, and takes most of the time."""
        with staging_folder(library.places) as staging:
            files = staging / "version" / "files"
            files.parent.mkdir(mode=0o700)
            tree = copy_tree(source, files)
            contents = read_contents(files, "demo", tree)
            entry = Installed(
                "demo", contents.name, "https://example.org/demo", "0" * 40, tree.hash, "2026-01-01T00:00:00Z"
            )
            yield Staged(library, entry, contents, files, previous)

    def install(begin: Callable[[], None] = lambda: None) -> None:
        with staged(old) as found:
            begin()
            found.finish(catalog, texts=True, programs=True)

    def update(begin: Callable[[], None] = lambda: None) -> None:
        with staged(new, library.get("demo")) as found:
            begin()
            found.finish(catalog, texts=True, programs=True)

    def prepare_new() -> None:
        with suppress(NotFound):
            library.remove("demo", catalog)

    def prepare_update() -> None:
        prepare_new()
        install()

    def look() -> dict[str, Any]:
        plugins = library.list()
        library.tidy()
        top = library.places.folder
        return {
            "versions": [plugin.contents.version if plugin.contents else None for plugin in plugins],
            "programs": [plugin.has_programs for plugin in plugins],
            "folders": sorted(str(path.relative_to(top)) for path in top.glob("*/*")),
            "left": sorted(path.name for path in top.glob(".*")),
        }

    found = []
    for is_update, prepare, change in ((False, prepare_new, install), (True, prepare_update, update)):
        found += [{"update": is_update, **step} for step in at_every_step(prepare, change, look)]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
