"""`parachute setup`: the official modules on a new computer."""

import typer

OFFICIAL = "brain,daily,chat"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("setup")(setup)


def setup(
    modules: str = typer.Option(OFFICIAL, "--modules", help="Names of official modules, with commas."),
    yes: bool = typer.Option(False, "--yes", "-y", help="Answer yes to all questions."),
) -> None:
    """Install the journal, the knowledge base and their chats; what is installed already stays as it is."""
    from parachute.cli.commands import NOT_ANSWERED
    from parachute.cli.module_output import can_ask, tell_core
    from parachute.cli.official_modules import OfficialModules, choose, print_questions
    from parachute.cli.output import print_note
    from parachute.cli.own_command import typed
    from parachute.errors import InvalidInput
    from parachute.settings.home import Home

    names = [name.strip() for name in modules.split(",") if name.strip()]
    if not names:
        raise InvalidInput("--modules: name at least one, such as daily.")
    home = Home.find()
    official = OfficialModules(home)
    questions = [official.question(name) for name in official.missing(names)]
    if not questions:
        return
    if yes or not can_ask(as_json=False):
        print_questions(questions)
    if yes:
        chosen = questions
    elif can_ask(as_json=False):
        chosen = choose(questions)
    else:
        print_note("Nothing was changed: say --yes to agree.")
        raise typer.Exit(NOT_ANSWERED)
    try:
        for question in chosen:
            official.install(question)
            typer.echo(f"✓ Module '{question.module.name}' installed and approved")
    finally:
        address = tell_core(home) if chosen else None
    left = [question.module.name for question in questions if question not in chosen]
    if left:
        typer.echo(typed(f"Not installed: {', '.join(left)}. Later: `parachute setup --modules {','.join(left)}`"))
    if address:
        typer.echo(typed('Try: `parachute daily add "Today I …"`'))
    elif chosen:
        typer.echo(typed("Start the computer to load them: `parachute start`"))
