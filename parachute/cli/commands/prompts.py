"""`parachute prompts`: files whose words steer conversations that run directly."""

from dataclasses import dataclass
from pathlib import Path

import typer

from parachute.base.errors import NotFound, ParachuteError
from parachute.base.files import read_regular
from parachute.cli.asking import confirm_approval, print_approved
from parachute.cli.commands import JSON, YES, group
from parachute.cli.installation import settings
from parachute.cli.modules import print_changes
from parachute.cli.output import clean, print_rows
from parachute.config.settings.home import Home
from parachute.config.vault.service import Vault
from parachute.events.hooks import memory
from parachute.modules.registry.changes import text_change
from parachute.security.approved_prompts import LIMIT, ApprovedPrompts, shown_name


def list_(as_json: bool = JSON) -> None:
    """List what was approved, and whether it is still as it was then."""
    home = Home.find()
    vault, approvals = Vault(settings(home).vault), ApprovedPrompts(home.root)
    found = [_prompt(name, vault, approvals) for name in approvals.names()]
    print_rows(
        [{"file": prompt.name, "state": prompt.state} for prompt in found],
        as_json,
        ["File", "State"],
        lambda row: (row["file"], row["state"]),
        "Nothing is approved. `parachute prompts approve FILE` shows a file, and asks.",
    )


def approve(
    file: list[str] = typer.Argument(help="Files, such as AGENTS.md in the vault."),
    yes: bool = YES,
    as_json: bool = JSON,
) -> None:
    """Let the words of a file steer conversations that run directly, as they are now; a change needs a new approval."""
    found = [_named(word) for word in file]
    for prompt in found:
        if prompt.text is None:
            raise NotFound(f"There is no text in {prompt.name}.", "Name a file in the vault, or one by its whole path.")
    waiting = [prompt for prompt in found if not prompt.is_approved]
    for prompt in waiting if not as_json else ():
        print_changes([text_change(prompt.name, prompt.before, prompt.content, is_whole=True)])
    names = [prompt.name for prompt in waiting]
    question = "Let these words steer conversations that have all your rights?"
    confirm_approval(names, question, yes=yes, as_json=as_json)
    for prompt in waiting:
        prompt.approve()
    print_approved(names, as_json, "It is approved already.")


def withdraw(file: str = typer.Argument(help="A file that was approved.")) -> None:
    """Let a file steer conversations that run directly no more."""
    prompt = _named(file)
    if prompt.name not in prompt.approvals.names():
        raise NotFound(f"{prompt.name} is not approved.", "`parachute prompts list` shows what is.")
    prompt.approvals.withdraw(prompt.name)
    print(f"{clean(prompt.name)} is not approved any more.")


app = group(list_, approve, withdraw)


@dataclass(frozen=True, slots=True)
class _Prompt:
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


def _named(word: str) -> _Prompt:
    """The file that is meant: one of the vault, or else one from where one stands."""
    home = Home.find()
    vault = Vault(settings(home).vault)
    path = vault.absolute(word)
    if not path.exists() and Path(word).exists():
        path = Path(word).absolute()
    return _prompt(shown_name(vault.root, path), vault, ApprovedPrompts(home.root))


def _prompt(name: str, vault: Vault, approvals: ApprovedPrompts) -> _Prompt:
    try:
        if name == memory.NAME:
            text = memory.newest(vault.root)
        else:
            text = read_regular(vault.absolute(name), LIMIT).decode(errors="replace").strip()
    except (OSError, ParachuteError):
        text = ""
    return _Prompt(name, text or None, approvals)
