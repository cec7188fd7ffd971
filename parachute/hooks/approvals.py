"""Which commands the user has approved, by their hash: a file of its own, which no hook and no agent writes."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from parachute.approvals import ApprovedHashes
from parachute.hooks.commands import Command


class Approvals:
    """`hooks-approved.json` in the folder of trust; several programs write it."""

    def __init__(self, root: Path) -> None:
        hint = "Remove the file and approve your hooks again: `parachute hooks approve`."
        self._hashes = ApprovedHashes(root / "hooks-approved.json", "command", "hook", hint)

    def digests(self) -> frozenset[str]:
        """All approved hashes; error: InvalidInput if the file cannot be read, and then nothing is approved."""
        return self._hashes.digests()

    def approve(self, commands: Iterable[Command]) -> None:
        """Approve commands as they are now; what was approved of the same command lines before is not any more."""
        for command in commands:
            texts = {str(file.path): file.content for file in command.files}
            self._hashes.approve([(command.line, command.digest)], texts)

    def before(self, command: Command) -> Mapping[str, bytes]:
        """The files of this command line as they were approved last, by their paths; error: InvalidInput."""
        return self._hashes.texts(command.line)
