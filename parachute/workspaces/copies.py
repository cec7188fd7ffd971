"""Copies of workspaces in the vault, with which they come along to another machine; none of them gives any right."""

import json
import logging
from collections.abc import Iterator

from pydantic import ValidationError

from parachute.errors import ParachuteError
from parachute.files import atomic_write, private_folder, read_regular
from parachute.vault.service import Vault
from parachute.workspaces.models import Workspace, is_slug
from parachute.workspaces.request import NewWorkspace

log = logging.getLogger(__name__)

_LIMIT = 256 * 1024
_MOST = 1000
_OWN = frozenset({"slug", "created_at", "updated_at", "declared"})


class Copies:
    """One JSON file for each workspace in `{vault}/.parachute/workspaces`. Every method waits for the disk."""

    def __init__(self, vault: Vault) -> None:
        self._folder = vault.state / "workspaces"

    def write(self, workspace: Workspace) -> None:
        """Write the copy of a workspace; a vault that does not take it is logged, since nothing is read from there."""
        text = json.dumps(workspace.as_json(), indent=2, ensure_ascii=False)
        try:
            atomic_write(private_folder(self._folder) / f"{workspace.slug}.json", f"{text}\n")
        except (OSError, ParachuteError) as error:
            log.warning("The copy of the workspace %s was not written: %s", workspace.slug, error)

    def remove(self, slug: str) -> None:
        """Remove the copy of a workspace; error: OSError if it stays, and would come back at the next start."""
        if not self._folder.is_symlink():
            (self._folder / f"{slug}.json").unlink(missing_ok=True)

    def read(self) -> Iterator[tuple[str, NewWorkspace]]:
        """What the copies say, by slug; what is no copy is logged and left out."""
        if self._folder.is_symlink() or not self._folder.is_dir():
            return
        for path in sorted(self._folder.glob("*.json"))[:_MOST]:
            if not is_slug(path.stem):
                log.warning("%s is not called as a workspace can be.", path)
                continue
            try:
                document = json.loads(read_regular(path, _LIMIT))
                if not isinstance(document, dict):
                    raise ValueError("it is no object")
                said = {name: value for name, value in document.items() if name not in _OWN}
                yield path.stem, NewWorkspace.model_validate(said)
            except ValidationError as error:
                log.warning("%s is not understood: %s.", path, error.errors()[0]["msg"])
            except (OSError, ValueError, RecursionError, ParachuteError) as error:
                log.warning("%s cannot be read: %s", path, error)
