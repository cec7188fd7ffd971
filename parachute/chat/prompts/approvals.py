"""Instruction files for unsandboxed conversations: their current and their approved content."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from parachute.base.errors import ParachuteError
from parachute.base.folders import Folder
from parachute.config.vault.service import Vault
from parachute.events.hooks import memory
from parachute.security.approved_prompts import LIMIT, ApprovedPrompts, shown_name


class PromptFile(Struct, frozen=True):
    """One file with its words as they are now, None if there are none to read; what is shown and approved is these."""

    name: str
    text: str | None
    approvals: ApprovedPrompts

    @property
    def content(self) -> bytes:
        """The words, as a file would hold them."""
        return f"{self.text}\n".encode(errors="replace")

    @property
    def before(self) -> bytes | None:
        """The words that were approved last."""
        found = self.approvals.before(self.name)
        return None if found is None else found + b"\n"

    @property
    def is_approved(self) -> bool:
        """True if these words are approved, of the memory every entry."""
        if self.text is not None and self.name == memory.NAME:
            parts = memory.entries(self.text)
            return self.approvals.approved_parts(self.name, parts) == parts
        return self.text is not None and self.approvals.is_approved(self.name, self.text)

    @property
    def state(self) -> str:
        """The state in a word or two."""
        return "gone" if self.text is None else "approved" if self.is_approved else "changed, not approved"

    def approve(self) -> None:
        """Approve these words."""
        assert self.text is not None
        if self.name == memory.NAME:
            memory.approve(self.approvals, self.text)
        else:
            self.approvals.approve(self.name, self.text)


def approved_files(vault: Vault, approvals: ApprovedPrompts) -> Iterator[PromptFile]:
    """Read the files of which something was approved; error: InvalidInput."""
    for name in approvals.names():
        yield _file(name, vault, approvals)


def prompt_file(path: Path, vault: Vault, approvals: ApprovedPrompts) -> PromptFile:
    """Read a file by its path."""
    return _file(shown_name(vault.root, path), vault, approvals)


def _file(name: str, vault: Vault, approvals: ApprovedPrompts) -> PromptFile:
    try:
        if name == memory.NAME:
            text = memory.newest(vault.root)
        else:
            path = vault.absolute(name)
            with Folder.open(path.parent) as folder:
                text = folder.read(path.name, LIMIT).decode(errors="replace").strip()
    except (OSError, ParachuteError):
        text = ""
    return PromptFile(name, text or None, approvals)
