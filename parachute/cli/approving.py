"""Files that steer conversations that run directly, as `parachute prompts` finds them."""

from dataclasses import dataclass
from pathlib import Path

from parachute.errors import ParachuteError
from parachute.files import read_regular
from parachute.hooks import memory
from parachute.prompts.approvals import LIMIT, ApprovedPrompts, shown_name
from parachute.settings.home import Home
from parachute.settings.store import load
from parachute.vault.service import Vault


@dataclass(frozen=True, slots=True)
class Prompt:
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
        """Whether these words are approved, of the memory every entry."""
        if self.text is not None and self.name == memory.NAME:
            parts = memory.entries(self.text)
            return self.approvals.approved_parts(self.name, parts) == parts
        return self.text is not None and self.approvals.is_approved(self.name, self.text)

    def approve(self) -> None:
        """Approve these words."""
        assert self.text is not None
        if self.name == memory.NAME:
            memory.approve(self.approvals, self.text)
        else:
            self.approvals.approve(self.name, self.text)

    def withdraw(self) -> bool:
        """Approve nothing of this file any more; whether something was."""
        was_approved = self.name in self.approvals.names()
        self.approvals.withdraw(self.name)
        return was_approved


def prompt_named(word: str) -> Prompt:
    """The file that is meant: one of the vault, or else one from where one stands."""
    home = Home.find()
    vault = Vault(load(home).vault)
    path = vault.absolute(word)
    if not path.exists() and Path(word).exists():
        path = Path(word).absolute()
    return _prompt(shown_name(vault.root, path), vault, ApprovedPrompts(home.root))


def found_prompts() -> list[Prompt]:
    """Every file of which something is approved."""
    home = Home.find()
    vault, approvals = Vault(load(home).vault), ApprovedPrompts(home.root)
    return [_prompt(name, vault, approvals) for name in approvals.names()]


def _prompt(name: str, vault: Vault, approvals: ApprovedPrompts) -> Prompt:
    try:
        if name == memory.NAME:
            text = memory.newest(vault.root)
        else:
            text = read_regular(vault.absolute(name), LIMIT).decode(errors="replace").strip()
    except (OSError, ParachuteError):
        text = ""
    return Prompt(name, text or None, approvals)
