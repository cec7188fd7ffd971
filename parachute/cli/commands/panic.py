"""`parachute panic` and `parachute resume`: stopping all agents at once, and letting them work again."""

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from parachute.errors import ParachuteError
    from parachute.settings.home import Home

_CORE_SECONDS = 8.0
_SUPERVISOR_SECONDS = 30.0


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("panic")(panic)
    app.command("resume")(resume)


def panic(as_json: bool = typer.Option(False, "--json", help="Print JSON.")) -> None:
    """Stop all agents, schedules, hooks and outgoing connections now, also when the API hangs; the journal goes on."""
    import asyncio

    from parachute.cli.output import print_error, print_json, print_note
    from parachute.cli.times import local
    from parachute.panic.brake import Brake
    from parachute.settings.home import Home

    home = Home.find()
    # Before anything is asked: from now on nothing starts an agent, whoever answers below.
    pulled = Brake(home.root).pull("the command line")
    supervisor, core = asyncio.run(_stop(home))
    is_running = supervisor is None or supervisor.key != "not_running"
    # The disk may have taken it meanwhile.
    pulled = Brake(home.root).panic or pulled
    if as_json:
        told = str(supervisor) if supervisor and is_running else pulled.warning
        print_json({"panic": pulled.as_json(), "running": is_running, "problem": told})
    else:
        print(f"All agents are stopped since {local(pulled.since)}. The journal and your files go on.")
        if not is_running and pulled.saved:
            print_note("The computer is not running; when it is started, it starts no agent.")
        elif core is not None and supervisor is None:
            print_note(f"The API did not confirm it, so the supervisor has ended the agents: {core.message}")
        print_note("`parachute resume` lets agents work again.")
        if pulled.warning:
            print_error(pulled.warning)
    if not pulled.saved and not is_running:
        # Nobody is there to remember it: the next start would let agents work.
        raise typer.Exit(1)
    if supervisor is not None and is_running:
        if not as_json:
            print_error(f"What runs already could not be ended: {supervisor.message}", "`parachute stop` ends it.")
        raise typer.Exit(1)


def resume(as_json: bool = typer.Option(False, "--json", help="Print JSON.")) -> None:
    """Let agents work again after `parachute panic`."""
    import asyncio
    import contextlib

    from parachute.cli.api import Api
    from parachute.cli.output import print_json, print_note
    from parachute.cli.times import local
    from parachute.errors import ParachuteError
    from parachute.panic.brake import Brake
    from parachute.settings.home import Home
    from parachute.supervisor import control

    home = Home.find()
    was = Brake(home.root).release()
    with contextlib.suppress(ParachuteError):  # it remembers what no disk took
        asyncio.run(control.ask(home, "resume", _SUPERVISOR_SECONDS))
    try:
        Api.find(home).post("/api/resume", seconds=_CORE_SECONDS)
    except ParachuteError as error:
        # It looks at the brake by itself, at the latest when it begins something.
        if not as_json and error.key != "not_running":
            print_note(f"The API does not answer: {error.message}")
    if as_json:
        print_json({"panic": None, "was": was.as_json() if was else None})
    elif was is None:
        print("Agents are not stopped.")
    else:
        print(f"Agents may work again; they were stopped since {local(was.since)} by {was.by}.")


async def _stop(home: "Home") -> "tuple[ParachuteError | None, ParachuteError | None]":
    """Have supervisor and core end what runs, both at once; what went wrong with each."""
    import asyncio

    from parachute.cli.api import Api
    from parachute.errors import ParachuteError
    from parachute.keys.cli_token import CliToken
    from parachute.supervisor import control

    async def supervisor() -> ParachuteError | None:
        try:
            await control.ask(home, "panic", _SUPERVISOR_SECONDS, by="the command line")
        except ParachuteError as error:
            return error
        return None

    async def core() -> ParachuteError | None:
        try:
            status = await control.ask(home, "status", 10)
            try:
                token = CliToken(home.root).obtain()
            except OSError:  # a disk that takes no new one; whoever is on this machine may stop agents without
                token = ""
            api = Api(status["main_server_host"], status["main_server_port"], token)
            await asyncio.to_thread(api.post, "/api/panic", None, _CORE_SECONDS)
        except ParachuteError as error:
            return error
        return None

    ended, told = await asyncio.gather(supervisor(), core())
    return ended, told
