"""Copies of workspaces in the vault, with which they come along to another machine; none of them gives any right."""

import errno
import json
import logging
from collections.abc import Iterator

import msgspec
from pydantic import ValidationError

from parachute.base.errors import ParachuteError
from parachute.base.folders import Folder
from parachute.chat.workspaces.models import Workspace, is_slug
from parachute.chat.workspaces.request import NewWorkspace
from parachute.config.vault.service import Vault

log = logging.getLogger(__name__)

_FOLDER = "workspaces"
_LIMIT = 256 * 1024
_MOST = 1000
_OWN = frozenset({"slug", "created_at", "updated_at", "declared"})


class Copies:
    """One JSON file for each workspace in `{vault}/.parachute/workspaces`. Every method waits for the disk."""

    def __init__(self, vault: Vault) -> None:
        self._state = vault.state

    def write(self, workspace: Workspace) -> None:
        """Write the copy of a workspace; a vault that does not take it is logged, since nothing is read from there."""
        text = msgspec.json.format(msgspec.json.encode(workspace)).decode()
        try:
            with Folder.open(self._state) as state, state.folder(_FOLDER, make=True) as folder:
                folder.write(f"{workspace.slug}.json", f"{text}\n")
        except OSError as error:
            log.warning("The copy of the workspace %s was not written: %s", workspace.slug, error)

    def remove(self, slug: str) -> None:
        """Remove the copy of a workspace; error: OSError if it stays, and would come back at the next start."""
        try:
            with Folder.open(self._state) as state:
                state.remove(f"{_FOLDER}/{slug}.json")
        except OSError as error:
            # Behind a link nothing is read, so that nothing comes back.
            if error.errno not in (errno.ENOENT, errno.ELOOP, errno.ENOTDIR):
                raise

    def read(self) -> Iterator[tuple[str, NewWorkspace]]:
        """Read the copies, by slug; what is no copy is logged and left out."""
        try:
            with Folder.open(self._state) as state, state.folder(_FOLDER) as folder:
                yield from self._read(folder)
        except OSError:
            return  # there is no such folder, or a link in its place

    def _read(self, folder: Folder) -> Iterator[tuple[str, NewWorkspace]]:
        names = sorted(entry.name for entry in folder.entries() if entry.name.endswith(".json"))
        for path in (self._state / _FOLDER / name for name in names[:_MOST]):
            if not is_slug(path.stem):
                log.warning("%s is not called as a workspace can be.", path)
                continue
            try:
                document = json.loads(folder.read(path.name, _LIMIT))
                if not isinstance(document, dict):
                    raise ValueError("it is no object")
                said = {name: value for name, value in document.items() if name not in _OWN}
                yield path.stem, NewWorkspace.model_validate(said)
            except ValidationError as error:
                log.warning("%s is not understood: %s.", path, error.errors()[0]["msg"])
            except (OSError, ValueError, RecursionError, ParachuteError) as error:
                log.warning("%s cannot be read: %s", path, error)
