"""The image of containers, the engine in use, and a shell in a sandbox, for `parachute sandbox`."""

import asyncio
import os
import sys
from pathlib import Path
from typing import NoReturn

from parachute.base.errors import InvalidInput, Unavailable
from parachute.cli.output import counted, local, print_answer, print_facts, print_json, print_note, print_table
from parachute.config.settings.home import Home
from parachute.config.settings.store import load
from parachute.config.vault.service import Vault
from parachute.sandbox.engines import containers, podman
from parachute.sandbox.engines.engines import Choice, Engines, trial
from parachute.sandbox.engines.models import Specification
from parachute.sandbox.engines.vault_mounts import vault_mounts
from parachute.sandbox.image import building, contents, recipe
from parachute.sandbox.image.models import Image


def build_image(from_tar: Path | None, to_tar: Path | None, as_json: bool) -> None:
    """Build the image, or only its root as a file."""
    if from_tar and to_tar:
        raise InvalidInput(
            "--from-tar and --to-tar are two different things to do.", "Give one of them.", key="two_archives"
        )
    home = Home.find()
    chosen = load(home).sandbox
    wanted = contents.debian_packages(chosen.packages, chosen.without)
    if to_tar:
        asyncio.run(building.write_root(to_tar, print_note, wanted=wanted))
        print_answer({"tarball": str(to_tar)}, as_json, f"{to_tar} is ready.")
        return

    async def attempt(image: str) -> None:
        await asyncio.to_thread(containers.attempt, trial(home, chosen, image))

    image = asyncio.run(building.build(home.root, print_note, attempt, from_tar, wanted=wanted))
    if as_json:
        print_json(image.as_json())
        return
    _print_contents(image)
    if chosen.engine == "bubblewrap":
        print_note("The settings ask for bubblewrap: `parachute config set sandbox.engine auto` uses this image.")


def print_status(as_json: bool) -> None:
    """Print which engine is used, and from which image."""
    home = Home.find()
    chosen = load(home).sandbox
    wanted = contents.debian_packages(chosen.packages, chosen.without)
    choice, no_views = asyncio.run(_look(Engines(home, chosen)))
    image = containers.image_of(home)
    missing = contents.missing() if choice.engine == "bubblewrap" else []
    install = contents.installing(missing) if missing else None
    if as_json:
        print_json(
            {
                "engine": choice.engine,
                "reason": choice.reason or choice.passed_over,
                "asked": chosen.engine,
                "image": image and {**image.as_json(), "is_current": not recipe.is_older(image.recipe, wanted)},
                "podman": containers.version(),
                "limits": chosen.limits,
                "missing_programs": [program.name for program in missing],
                "install": install,
                "views": {"available": no_views is None, "reason": no_views},
            }
        )
        return
    facts = [("Engine", choice.engine or f"none: {choice.reason}")]
    if choice.passed_over:
        facts.append(("Not Podman", choice.passed_over))
    facts.append(("Podman", containers.version() or "not installed"))
    if image:
        is_older = recipe.is_older(image.recipe, wanted)
        old = "; not of today's recipe: parachute sandbox build" if is_older else ""
        facts.append(("Image", f"{image.tag}, {image.bytes >> 20} MB, built {local(image.built_at)}{old}"))
        facts.append(("Packages", f"{len(image.packages)}; --json lists their versions"))
        if found := image.contents():
            facts.append(("Programs", ", ".join(f"{each['name']} {each['version']}" for each in found)))
    else:
        facts.append(("Image", "none: parachute sandbox build"))
    if choice.engine == "podman":
        each = f"{chosen.memory_megabytes} MB, {counted(chosen.cpus, 'processor')}, {chosen.processes} processes each"
        facts.append(("Limits", each if chosen.limits == "enforced" else "unavailable, as the settings say"))
    if missing:
        names = ", ".join(program.name for program in missing)
        facts.append(("Missing", f"{names}: agents under bubblewrap have the programs of this machine"))
    if choice.engine:
        without = "agents do not run in them" if home.views_worked.exists() else "agents write to them directly"
        facts.append(("Projects", f"{without}: {no_views}" if no_views else "agents work on views"))
    print_facts(facts)
    if install:
        print_facts([("Next", install)])
    if choice.hint:
        print_facts([("Next", choice.hint)])


def _print_contents(image: Image) -> None:
    found = image.contents()
    if found:
        sizes = [f"{(each['bytes'] or 0) / (1 << 20):.0f}" for each in found]
        rows = [(each["name"], each["version"], size) for each, size in zip(found, sizes, strict=True)]
        print_table(["Program", "Version", "MB it alone needs"], rows)
    print(f"The image takes {image.bytes >> 20} MB.")


async def _look(engines: Engines) -> tuple[Choice, str | None]:
    """The engine, and why agents cannot work on views of projects."""
    choice = await engines.choose()
    return choice, await engines.no_views() if choice.engine else choice.reason


def become_shell() -> NoReturn:
    """Become a shell in a container."""
    home = Home.find()
    image = containers.image_of(home)
    if image is None:
        raise Unavailable("No container image yet.", "Build it: parachute sandbox build", key="no_image")
    specification = trial(home, load(home).sandbox, image.id)
    if reason := containers.unavailable(specification):
        raise Unavailable(reason, "`parachute sandbox status` shows more.", key="no_sandbox")
    sys.stdout.flush()
    command = _shell_command(home, specification)
    os.execvp(command[0], command)  # noqa: S606 - the arguments are a list of our own


def _shell_command(home: Home, specification: Specification) -> list[str]:
    vault = Vault(load(home).vault)
    mounts = [
        argument
        for mount in (vault_mounts(vault, home.root) if vault.root.is_dir() else ())
        for argument in podman.mount(mount.source, mount.target, writable=False)
    ]
    terminal = ["--tty"] if sys.stdin.isatty() else []
    return [*podman.interactive(specification), *terminal, *mounts, specification.image, "/bin/bash"]
