"""`parachute prompts`: instruction files for unsandboxed conversations, and the prompt of a next turn."""

from pathlib import Path

import typer

from parachute.base.errors import NotFound
from parachute.chat.prompts.approvals import PromptFile, approved_files, prompt_file
from parachute.cli.api import Api
from parachute.cli.asking import confirm_approval, print_approved
from parachute.cli.commands import JSON, YES, group
from parachute.cli.identifiers import whole_session
from parachute.cli.installation import settings
from parachute.cli.modules import print_changes
from parachute.cli.output import clean, print_json, print_note, print_rows
from parachute.config.settings.home import Home
from parachute.config.vault.service import Vault
from parachute.modules.trees.changes import text_change
from parachute.security.approved_prompts import ApprovedPrompts


def list_(as_json: bool = JSON) -> None:
    """List what was approved, and whether it is still as it was then."""
    home = Home.find()
    vault, approvals = Vault(settings(home).vault), ApprovedPrompts(home.root)
    found = list(approved_files(vault, approvals))
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
            raise NotFound(
                f"There is no text in {prompt.name}.",
                "Name a file in the vault, or one by its whole path.",
                key="no_text",
            )
    waiting = [prompt for prompt in found if not prompt.is_approved]
    for prompt in waiting if not as_json else ():
        print_changes([text_change(prompt.name, prompt.before, prompt.content, is_whole=True)])
    names = [prompt.name for prompt in waiting]
    question = "Let these instructions apply to conversations with all your rights?"
    confirm_approval(names, question, yes=yes, as_json=as_json)
    for prompt in waiting:
        prompt.approve()
    print_approved(names, as_json, "It is approved already.")


def withdraw(file: str = typer.Argument(help="A file that was approved.")) -> None:
    """Let a file steer conversations that run directly no more."""
    prompt = _named(file)
    if prompt.name not in prompt.approvals.names():
        raise NotFound(f"{prompt.name} is not approved.", "`parachute prompts list` shows what is.", key="not_approved")
    prompt.approvals.withdraw(prompt.name)
    print(f"{clean(prompt.name)} is no longer approved.")


def preview(
    session: str = typer.Argument("", metavar="[ID]", help="Id of a conversation; without it, of a new one."),
    directory: str = typer.Option("", "--directory", "-d", help="The folder in which a new one would work."),
    agent: str = typer.Option("", "--agent", help="The file of the agent that would answer in a new one."),
    context: list[str] = typer.Option([], "--context", help="A folder that is told; can be repeated."),
    as_json: bool = JSON,
) -> None:
    """Show the exact system prompt of the next turn, with about how many tokens it takes."""
    api = Api.find()
    found = api.get(
        "/api/prompt/preview",
        sessionId=whole_session(api, session) if session else None,
        workingDirectory=directory,
        agentPath=agent,
        contexts=",".join(context),
    )
    if as_json:
        print_json(found)
        return
    print(clean(found["prompt"]))
    preset = " The program's own prompt for coding goes before it." if found["preset"] else ""
    print_note(f"About {found['totalPromptTokens']:,} tokens, {found['contextTokens']:,} of them contexts.{preset}")
    for problem in found["problems"]:
        print_note(problem)


app = group(list_, approve, withdraw, preview)


def _named(word: str) -> PromptFile:
    """The file that is meant: one of the vault, or else one from where one stands."""
    home = Home.find()
    vault = Vault(settings(home).vault)
    path = vault.absolute(word)
    if not path.exists() and Path(word).exists():
        path = Path(word).absolute()
    return prompt_file(path, vault, ApprovedPrompts(home.root))
