"""`parachute prompts`: files whose words steer conversations that run directly."""

import typer

from parachute.cli.commands import NOT_ANSWERED, group

_JSON = typer.Option(False, "--json", help="Print JSON.")


def register(app: typer.Typer) -> None:
    """Add the group."""
    prompts = group("prompts", "Approve files whose words steer conversations that run directly.")
    prompts.command("list")(list_)
    prompts.command("approve")(approve)
    prompts.command("withdraw")(withdraw)
    app.add_typer(prompts)


def list_(as_json: bool = _JSON) -> None:
    """List what was approved, and whether it is still as it was then."""
    from parachute.cli.approving import Prompt, found_prompts
    from parachute.cli.output import print_json, print_note, print_table

    def state(prompt: Prompt) -> str:
        return "gone" if prompt.text is None else "approved" if prompt.is_approved else "changed, not approved"

    rows = [(prompt.name, state(prompt)) for prompt in found_prompts()]
    if as_json:
        print_json([{"file": name, "state": word} for name, word in rows])
    elif rows:
        print_table(["File", "State"], rows)
    else:
        print_note("Nothing is approved. `parachute prompts approve FILE` shows a file, and asks.")


def approve(
    file: list[str] = typer.Argument(help="Files, such as AGENTS.md in the vault."),
    yes: bool = typer.Option(False, "--yes", "-y", help="Answer yes to all questions."),
    as_json: bool = _JSON,
) -> None:
    """Let the words of a file steer conversations that run directly, as they are now; a change needs a new approval."""
    from parachute.cli.approving import prompt_named
    from parachute.cli.module_output import ask, can_ask, print_changes
    from parachute.cli.output import clean, print_json, print_note
    from parachute.errors import NotFound
    from parachute.modules.changes import text_change

    found = [prompt_named(word) for word in file]
    for prompt in found:
        if prompt.text is None:
            raise NotFound(f"There is no text in {prompt.name}.", "Name a file in the vault, or one by its whole path.")
    waiting = [prompt for prompt in found if not prompt.is_approved]
    if not as_json:
        for prompt in waiting:
            print_changes([text_change(prompt.name, prompt.before, prompt.content, is_whole=True)])
    if waiting and not yes:
        if not can_ask(as_json):
            if as_json:
                print_json({"approved": [], "waiting": [prompt.name for prompt in waiting]})
            print_note("Nothing was approved. `--yes` approves without being asked.")
            raise typer.Exit(NOT_ANSWERED)
        if not ask("Let these words steer conversations that have all your rights?"):
            raise typer.Exit(1)
    for prompt in waiting:
        prompt.approve()
    names = [prompt.name for prompt in waiting]
    if as_json:
        print_json({"approved": names, "waiting": []})
    else:
        print(f"Approved: {clean(', '.join(names))}." if names else "It is approved already.")


def withdraw(file: str = typer.Argument(help="A file that was approved.")) -> None:
    """Let a file steer conversations that run directly no more."""
    from parachute.cli.approving import prompt_named
    from parachute.cli.output import clean
    from parachute.errors import NotFound

    prompt = prompt_named(file)
    if not prompt.withdraw():
        raise NotFound(f"{prompt.name} is not approved.", "`parachute prompts list` shows what is.")
    print(f"{clean(prompt.name)} is not approved any more.")
