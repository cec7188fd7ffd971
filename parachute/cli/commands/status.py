"""`parachute status`: what runs."""

import asyncio
from typing import Any

import typer
from msgspec import to_builtins

from parachute.base.addresses import is_loopback
from parachute.base.errors import ParachuteError, Unavailable
from parachute.cli.api import Api, ask_supervisor
from parachute.cli.commands import JSON, group
from parachute.cli.installation import settings
from parachute.cli.output import (
    counted,
    duration,
    money,
    print_error,
    print_facts,
    print_json,
    print_note,
    print_table,
    print_warning,
)
from parachute.cli.read_files import progress_line
from parachute.config.settings.home import Home
from parachute.ops.backup.kit.protection import NOT_PROTECTED, TO_PROTECT, concerns
from parachute.ops.backup.state import State
from parachute.security.kill_switch.switch import KillSwitch, Panic
from parachute.web.discovery.avahi import announced_name
from parachute.web.first_boot.addresses import addresses

NOT_RUNNING = 3
"""The exit code of systemctl for a unit that is not active."""

_MODULE = "module@"
_KINDS = {"mcp_servers": "MCP server"}
"""Kinds of the inbox whose name is no word."""


def status(
    verbose: bool = typer.Option(False, "--verbose", "-v", help="Show each process, too."), as_json: bool = JSON
) -> None:
    """Show what runs; exit code 3 if the computer, or its API, does not."""
    home = Home.find()
    try:
        supervisor = ask_supervisor(home, "status", 10)
    except Unavailable as error:
        if error.key != "not_running":
            raise
        _print_stopped(home, error, as_json)
        raise typer.Exit(NOT_RUNNING) from error
    units = supervisor.pop("units")
    core, problem = None, None
    running = supervisor["main_server_healthy"]
    try:
        api = Api.of_status(home, {**supervisor, "units": units})
        core = api.get("/api/status") if running else None
        units = _explained(api, units) if running else units
    except ParachuteError as error:
        problem = error
    if as_json:
        state = {"running": running, "panic": supervisor.get("panic"), "supervisor": supervisor}
        state.update({"units": units, "core": core, "backup": _backup(home)})
        print_json({**state, "problem": str(problem) if problem else None})
    else:
        _print_running(supervisor, core)
        failed = [unit for unit in units if unit["state"] == "failed"]
        if verbose or failed:
            print()
            _print_units(units if verbose else failed)
        _print_backup(home)
        if problem:
            print_error(problem.message, problem.hint)
    if not running:
        raise typer.Exit(NOT_RUNNING)
    if problem:
        raise typer.Exit(1)


app = group(status)


def model_line(provider: dict[str, Any]) -> str:
    """Return the model in use and where it runs, such as `qwen3, at http://127.0.0.1:11434`; without one the reason."""
    name, address = provider["provider"], provider.get("address")
    if name is None:
        return str(provider.get("because"))
    if name == "offline":
        return "the small model on this computer"
    if name == "anthropic":
        return f"{provider.get('model') or 'Claude'}, at {address or 'Anthropic'}"
    return f"{provider.get('model') or 'the one that the server chooses'}, at {address}"


def meaning_line(meaning: dict[str, Any]) -> str:
    """Return the progress of the index of meanings, or the reason why there is none."""
    if not meaning.get("enabled"):
        return "switched off"
    if meaning.get("problem"):
        return f"not in use: {meaning['problem']}"
    waiting = int(meaning.get("waiting") or 0)
    said = f"{waiting:,} texts are still to be read" if waiting else "everything is read"
    return f"{said}, with {meaning['server']}" if meaning.get("server") else said


def hook_facts(core: dict[str, Any]) -> list[tuple[str, str]]:
    """Lines about hooks that do not run because of a mistake in their files."""
    return [("Hooks", f"do not run: {problem}") for problem in core.get("hook_problems") or ()]


def address_facts(supervisor: dict[str, Any]) -> list[tuple[str, str]]:
    """The address on this machine, and those to type on others where they reach it."""
    host, port = str(supervisor["main_server_host"]), int(supervisor["main_server_port"])
    facts = [("Address", Api(host, port, "").url)]
    if not is_loopback(host):
        facts += [("Network", url) for url in addresses(host, port, asyncio.run(announced_name()))]
    return facts


def _print_stopped(home: Home, error: Unavailable, as_json: bool) -> None:
    panic = KillSwitch(home.root).panic
    if as_json:
        stopped = {"running": False, "panic": to_builtins(panic) if panic else None, "problem": error.message}
        print_json({**stopped, "supervisor": None, "units": [], "core": None, "backup": _backup(home)})
        return
    print(error.message)
    if panic:
        print(panic.refusal().message)
    print_note(error.hint or "")
    _print_backup(home)


def _print_running(supervisor: dict[str, Any], core: dict[str, Any] | None) -> None:
    local, *network = address_facts(supervisor)
    if supervisor["main_server_healthy"]:
        since = duration(supervisor["main_server_uptime_seconds"] or 0)
        print(f"The computer is running on {local[1]} for {since}, version {supervisor['main_server_version']}.")
    else:
        print(f"The supervisor is running, but the API on {local[1]} is not.")
        if panic := supervisor.get("panic"):
            print(Panic(**panic).refusal().message)
    print_facts([*network, *(_facts(core) if core else [])])


def _facts(core: dict[str, Any]) -> list[tuple[str, str]]:
    """Lines about what `GET /api/status` answers."""
    facts = [("Vault", str(core["vault"]))]
    if panic := core.get("panic"):
        facts.insert(0, ("Stopped", f"all agents, since {panic['since']} by {panic['by']}; `parachute resume`"))
    facts += [("Lost", notice["message"]) for notice in core.get("recovery") or ()]
    if provider := core.get("provider"):
        facts += [("Model", model_line(provider)), ("Spending", _spending(provider))]
        facts.append(("Search by meaning", meaning_line(core.get("meaning") or {})))
    if files := core.get("files"):
        facts.append(("Files for the search", progress_line(files)))
    facts += hook_facts(core)
    if (memory := core.get("memory")) and not memory["on"]:
        facts.append(("Memory", f"off: {memory['reason'] or 'hooks.yaml has none of the hooks that make it'}"))
    if sandbox := core.get("sandbox"):
        facts.append(("Sandbox", _sandbox(sandbox)))
    if declared := core.get("declared_modules"):
        if name := declared["installing"]:
            facts.append(("Modules", f"installing {name}, which is declared"))
        facts += [
            ("Modules", f"{name} differs from its declaration: {said}") for name, said in declared["problems"].items()
        ]
    if sessions := core.get("sessions"):
        facts.append(("Sessions", f"{sessions['total']}, {sessions['active']} active"))
    if agents := core.get("agents"):
        facts.append(("Agents", f"{agents['warm']} warm, {1 if agents['spare'] else 0} prewarmed"))
    waiting = [counted(count, _KINDS.get(kind, kind[:-1])) for kind, count in core.get("waiting", {}).items() if count]
    return facts + ([("Waiting", f"{', '.join(waiting)}: `parachute inbox`")] if waiting else [])


def _explained(api: Api, units: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The units, those of failed modules with the module's own words for it: the supervisor only knows that they ended."""
    if not any(unit["state"] == "failed" and unit["name"].startswith(_MODULE) for unit in units):
        return units
    said = {row["name"]: row["unit"]["reason"] for row in api.get("/api/modules")["modules"] if row["unit"]}
    return [{**unit, "reason": said.get(unit["name"].removeprefix(_MODULE)) or unit["reason"]} for unit in units]


def _print_units(units: list[dict[str, Any]]) -> None:
    rows = [
        (
            unit["name"],
            unit["state"],
            str(unit["process"] or ""),
            duration(unit["seconds"]),
            str(unit["restarts"]),
            unit["reason"] or "",
        )
        for unit in units
    ]
    print_table(["Unit", "State", "Process", "Since", "Restarts", "Reason"], rows)


def _spending(provider: dict[str, Any]) -> str:
    spent, limit = money(provider.get("spent_today") or 0), provider.get("daily_spending_limit")
    shown = f"{spent} today, without a limit" if limit is None else f"{spent} of {money(limit)} today"
    tokens, most = provider.get("tokens_today") or 0, provider.get("daily_token_limit")
    if not tokens and most is None:
        return shown
    return f"{shown}; {tokens:,}{'' if most is None else f' of {most:,}'} tokens of the subscription"


def _sandbox(sandbox: dict[str, Any]) -> str:
    required = "; required" if sandbox.get("required") else ""
    if sandbox.get("engine"):
        return f"{sandbox['engine']}{required}"
    return f"none{required}: {sandbox.get('reason') or 'no engine works here'}"


def _backup(home: Home) -> list[str]:
    """Concerns about the backups; nothing where none was ever made."""
    state = State.read(home.root)
    if not state.operations:
        return []
    try:
        return concerns(home, settings(home))
    except ParachuteError:
        return state.concerns()  # the settings cannot be read, which is said elsewhere


def _print_backup(home: Home) -> None:
    for concern in _backup(home):
        if concern == NOT_PROTECTED:
            print_warning(concern, TO_PROTECT)
        else:
            print_error(concern, "`parachute backup status` shows more.")
