"""`parachute panic` and `parachute resume`: stopping all agents at once, and letting them work again."""

import asyncio

import typer
from msgspec import to_builtins

from parachute.base.disk_errors import DiskReadOnly
from parachute.base.errors import ParachuteError
from parachute.cli.api import Api, ask_supervisor
from parachute.cli.commands import JSON, group
from parachute.cli.output import local, print_error, print_json, print_note
from parachute.config.settings.home import Home
from parachute.security.kill_switch.switch import KillSwitch
from parachute.supervisor import control

_CORE_SECONDS = 8.0
_SUPERVISOR_SECONDS = 30.0


def panic(as_json: bool = JSON) -> None:
    """Stop all agents, schedules, hooks and outgoing connections now, also when the API hangs; the journal goes on."""
    home = Home.find()
    # Before anything is asked: from now on nothing starts an agent, whoever answers below.
    stopped = KillSwitch(home.root).engage("the command line")
    supervisor, core = asyncio.run(_stop(home))
    is_running = supervisor is None or supervisor.key != "not_running"
    # The disk may have taken it meanwhile.
    stopped = KillSwitch(home.root).panic or stopped
    if as_json:
        problem = str(supervisor) if supervisor and is_running else stopped.warning
        print_json({"panic": to_builtins(stopped), "running": is_running, "problem": problem})
    else:
        print(f"All agents are stopped since {local(stopped.since)}. The journal and your files go on.")
        if not is_running and stopped.saved:
            print_note("The computer is not running; when it is started, it starts no agent.")
        elif core is not None and supervisor is None:
            print_note(f"The API did not confirm it, so the supervisor has ended the agents: {core.message}")
        print_note("`parachute resume` lets agents work again.")
        if stopped.warning:
            print_error(stopped.warning)
    if not stopped.saved and not is_running:
        # Nobody is there to remember it: the next start would let agents work.
        raise typer.Exit(1)
    if supervisor is not None and is_running:
        if not as_json:
            print_error(f"What runs already could not be ended: {supervisor.message}", "`parachute stop` ends it.")
        raise typer.Exit(1)


def resume(as_json: bool = JSON) -> None:
    """Let agents work again after `parachute panic`."""
    home = Home.find()
    # Supervisor and core remember what no disk took. One that does not answer looks by itself, at the latest when it begins something.
    released = KillSwitch(home.root).release()
    was = to_builtins(released) if released else None
    try:
        before = ask_supervisor(home, "resume", _SUPERVISOR_SECONDS).get("was")
        was = was or before
    except ParachuteError as error:
        if error.key == DiskReadOnly.key:
            raise
    try:
        before = Api.find(home).post("/api/resume", seconds=_CORE_SECONDS)["was"]
        was = was or before
    except ParachuteError as error:
        if error.key == DiskReadOnly.key:
            raise
        if not as_json and error.key != "not_running":
            print_note(f"The API does not answer: {error.message}")
    if as_json:
        print_json({"panic": None, "was": was})
    elif was is None:
        print("Agents are not stopped.")
    else:
        print(f"Agents may work again; they were stopped since {local(was['since'])} by {was['by']}.")


app = group(panic, resume)


async def _stop(home: Home) -> tuple[ParachuteError | None, ParachuteError | None]:
    """Have supervisor and core end what runs, both at once; returns what went wrong with each."""

    async def supervisor() -> ParachuteError | None:
        try:
            await control.ask(home, "panic", _SUPERVISOR_SECONDS, by="the command line")
        except ParachuteError as error:
            return error
        return None

    async def core() -> ParachuteError | None:
        try:
            api = Api.of_status(home, await control.ask(home, "status", 10))
            await asyncio.to_thread(api.post, "/api/panic", None, _CORE_SECONDS)
        except ParachuteError as error:
            return error
        return None

    ended, stopped = await asyncio.gather(supervisor(), core())
    return ended, stopped
