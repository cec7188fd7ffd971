"""Approved prompts: the files whose approved content may steer conversations that run with the owner's rights."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from parachute.base.approved_hashes import ApprovedHashes
from parachute.base.errors import InvalidInput

LIMIT = 1024 * 1024
"""Bytes of a file that can be approved."""


class ApprovedPrompts:
    """`prompts-approved.json` in the state directory; several programs write it. Names are those of `shown_name`."""

    def __init__(self, root: Path) -> None:
        hint = "Remove the file and approve your prompts again: `parachute prompts approve FILE`."
        self._hashes = ApprovedHashes(root / "prompts-approved.json", "file", "prompt", hint)

    def is_approved(self, name: str, text: str) -> bool:
        """Return whether this text was approved under this name; nothing is while the approvals cannot be read."""
        try:
            return _digest(name, text) in self._hashes.digests()
        except InvalidInput:
            return False

    def approved(self, files: Iterable[tuple[str, str]]) -> frozenset[str]:
        """Return the names of those files, each with its text, that were approved; the approvals are read once."""
        try:
            digests = self._hashes.digests()
        except InvalidInput:
            return frozenset()
        return frozenset(name for name, text in files if _digest(name, text) in digests)

    def approve(self, name: str, text: str, parts: Sequence[str] = ()) -> None:
        """Approve a text in place of what was approved under this name; `parts` count by themselves. Error: InvalidInput."""
        digests = [_digest(name, part) for part in parts]
        self._hashes.approve([(name, _digest(name, text))], {name: text.encode(errors="replace")}, parts=digests)

    def approved_parts(self, name: str, parts: Sequence[str]) -> list[str]:
        """Return the parts that were approved under this name."""
        try:
            entry = self._hashes.entry(name) or {}
        except InvalidInput:
            return []
        return [part for part in parts if _digest(name, part) in entry.get("parts", ())]

    def withdraw(self, name: str) -> None:
        """Approve nothing under this name any more; error: InvalidInput."""
        self._hashes.withdraw(name)

    def names(self) -> list[str]:
        """Return the names of which something is approved; error: InvalidInput."""
        return sorted(entry["file"] for entry in self._hashes.entries().values())

    def before(self, name: str) -> bytes | None:
        """The text that was approved under this name last, None if there is none."""
        return self._hashes.texts(name).get(name)


def shown_name(vault: Path, path: Path) -> str:
    """A file as approvals and people name it: relative to the vault where it lies in there, without links on the way."""
    real, root = path.resolve(), vault.resolve()
    return str(real.relative_to(root)) if real.is_relative_to(root) else str(real)


def _digest(name: str, text: str) -> str:
    # With the name in it: the same words elsewhere would steer other conversations.
    seen = json.dumps([name, text.strip()])
    return f"sha256:{hashlib.sha256(seen.encode(errors='surrogatepass')).hexdigest()}"
