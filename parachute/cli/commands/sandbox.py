"""`parachute sandbox`: the image of containers, and what shuts agents in."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from parachute.cli.commands import group

if TYPE_CHECKING:
    from parachute.sandbox.models import Specification
    from parachute.settings.home import Home
    from parachute.settings.models import Settings

_JSON = typer.Option(False, "--json", help="Print JSON.")


def register(app: typer.Typer) -> None:
    """Add the group."""
    sandbox = group("sandbox", "Build and inspect the agents' sandbox.")
    sandbox.command("build")(build)
    sandbox.command("status")(status)
    sandbox.command("explain")(explain)
    sandbox.command("shell")(shell)
    app.add_typer(sandbox)


def build(
    from_tar: Path | None = typer.Option(None, "--from-tar", metavar="FILE", help="Take the root from this file."),
    to_tar: Path | None = typer.Option(
        None, "--to-tar", metavar="FILE", help="Only make the root, as a file for another machine."
    ),
    as_json: bool = _JSON,
) -> None:
    """Build the image that agents' containers start from; the one before is used until the new one works."""
    import asyncio
    from dataclasses import asdict

    from parachute.cli.output import print_json, print_note
    from parachute.errors import InvalidInput
    from parachute.image import building
    from parachute.sandbox import containers
    from parachute.sandbox.engines import trial
    from parachute.settings.home import Home
    from parachute.settings.store import load

    if from_tar and to_tar:
        raise InvalidInput("--from-tar and --to-tar are two different things to do.", "Give one of them.")
    if to_tar:
        asyncio.run(building.write_root(to_tar, print_note))
        print_json({"tarball": str(to_tar)}) if as_json else print(f"{to_tar} is ready.")
        return
    home = Home.find()
    settings = load(home).sandbox

    async def attempt(image: str) -> None:
        await asyncio.to_thread(containers.attempt, trial(home, settings, image))

    image = asyncio.run(building.build(home.root, print_note, attempt, from_tar))
    if as_json:
        print_json(asdict(image))
    elif settings.engine == "bubblewrap":
        print_note("The settings ask for bubblewrap: `parachute config set sandbox.engine auto` uses this image.")


def status(as_json: bool = _JSON) -> None:
    """Show which engine the agents' sandbox uses, and from which image."""
    import asyncio
    from dataclasses import asdict

    from parachute.cli.output import counted, print_facts, print_json
    from parachute.cli.times import local
    from parachute.image import recipe
    from parachute.sandbox import containers
    from parachute.sandbox.engines import Engines
    from parachute.settings.home import Home
    from parachute.settings.store import load

    home = Home.find()
    settings = load(home).sandbox
    choice = asyncio.run(Engines(home, settings).choose())
    image = containers.image_of(home)
    if as_json:
        print_json(
            {
                "engine": choice.engine,
                "reason": choice.reason or choice.passed_over,
                "asked": settings.engine,
                "image": image and {**asdict(image), "is_current": not recipe.is_older(image.recipe)},
                "podman": containers.version(),
                "limits": settings.limits,
            }
        )
        return
    facts = [("Engine", choice.engine or f"none: {choice.reason}")]
    if choice.passed_over:
        facts.append(("Not Podman", choice.passed_over))
    facts.append(("Podman", containers.version() or "not installed"))
    if image:
        old = "; not of today's recipe: parachute sandbox build" if recipe.is_older(image.recipe) else ""
        facts.append(("Image", f"{image.tag}, {image.bytes >> 20} MB, built {local(image.built_at)}{old}"))
        facts.append(("Packages", f"{len(image.packages)}; --json lists their versions"))
    else:
        facts.append(("Image", "none: parachute sandbox build"))
    if choice.engine == "podman":
        each = f"{settings.memory_megabytes} MB, {counted(settings.cpus, 'processor')}, {settings.processes} processes each"
        facts.append(("Limits", each if settings.limits == "enforced" else "unavailable, as the settings say"))
    print_facts(facts)
    if choice.hint:
        print_facts([("Next", choice.hint)])


def explain(
    session: str = typer.Argument(metavar="ID", help="Id of a conversation, as `parachute sessions list` shows it."),
    as_json: bool = _JSON,
) -> None:
    """Show what a conversation's sandbox was asked to be, what its engine reports, and what a look inside finds.

    A difference is an error. A sandbox that sleeps is started for it, and stops again by itself.
    """
    from parachute.cli.api import Api, quoted
    from parachute.cli.output import counted, print_error, print_json, print_note, print_table
    from parachute.cli.session_ids import whole_session
    from parachute.settings.home import Home

    # A container that has to be started first takes its time.
    api = Api.find(Home.find())
    found = api.get_slowly(f"/api/sandbox/sessions/{quoted(whole_session(api, session))}")
    if as_json:
        print_json(found)
    elif found["note"]:
        print(found["note"])
    else:
        columns = ("name", "asked", "engine", "inside")
        rows = [["!" if row["differs"] else "", *(row[name] for name in columns)] for row in found["rows"]]
        print_table(["", "What", "Asked", found["engine"].capitalize(), "Inside"], rows)
        if found["started"]:
            print_note("The sandbox was started for this look, and stops by itself.")
        differing = [row for row in found["rows"] if row["differs"]]
        for row in differing:
            print_error(row["problem"])
        if differing:
            print(f"{counted(len(differing), 'thing')} {'does' if len(differing) == 1 else 'do'} not hold.")
        else:
            print("Everything asked for holds.")
    if found["differs"]:
        raise typer.Exit(1)


def shell() -> None:
    """Open a shell in a container as a chat's agent has it, without model and without network."""
    import os
    import sys

    from parachute.errors import Unavailable
    from parachute.sandbox import containers
    from parachute.sandbox.engines import trial
    from parachute.settings.home import Home
    from parachute.settings.store import load

    home = Home.find()
    settings = load(home)
    image = containers.image_of(home)
    if image is None:
        raise Unavailable("There is no image for containers yet.", "Build it: parachute sandbox build")
    specification = trial(home, settings.sandbox, image.id)
    if reason := containers.unavailable(specification):
        raise Unavailable(reason, "`parachute sandbox status` shows more.")
    sys.stdout.flush()
    command = _shell_command(home, settings, specification)
    os.execvp(command[0], command)  # noqa: S606 - the arguments are a list of our own


def _shell_command(home: "Home", settings: "Settings", specification: "Specification") -> list[str]:
    import sys

    from parachute.sandbox import podman
    from parachute.vault.service import Vault

    vault = Vault(settings.vault)
    mounts = [
        argument
        for folder in (vault.top_level_folders() if vault.root.is_dir() else ())
        if not home.root.resolve().is_relative_to(folder.resolve())
        for argument in podman.mount(str(folder.resolve()), f"/vault/{folder.name}", writable=False)
    ]
    terminal = ["--tty"] if sys.stdin.isatty() else []
    return [*podman.interactive(specification), *terminal, *mounts, specification.image, "/bin/bash"]
