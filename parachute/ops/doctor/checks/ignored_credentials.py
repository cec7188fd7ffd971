"""Credentials that lie where this computer never looks for them."""

import json
from pathlib import Path
from typing import Any

from parachute.base.errors import ParachuteError
from parachute.base.files import read_regular
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, NotApplicable, Result, check, ok, warning
from parachute.ops.doctor.provider import provider_of
from parachute.ops.doctor.systemd import is_installed
from parachute.supervisor.credentials import VARIABLES

_LIMIT = 4 * 1024 * 1024
_STORE = "`parachute auth login` stores one for the computer."
_SECRETS = tuple(name for name in VARIABLES if name != "ANTHROPIC_BASE_URL")


@check("Ignored credentials", Group.ACCESS)
def examine(computer: Computer) -> Result:
    found = [*_in_vault(computer), *_in_environment(computer)]
    if not _has_one(computer):
        found += _of_claude_code(computer)
    if not found:
        return ok("No credential lies where it is ignored.")
    what = "A credential is" if len(found) == 1 else f"{len(found)} credentials are"
    return warning(
        f"{what} ignored: {found[0][0]}.", found[0][1], details=tuple(f"{where}: {do}" for where, do in found)
    )


def _in_vault(computer: Computer) -> list[tuple[str, str]]:
    if computer.settings is None:
        return []
    path = computer.settings.vault / ".claude" / ".credentials.json"
    if not path.is_file():
        return []
    login = computer.user_home / ".claude" / ".credentials.json"
    do = f"Delete it: {login} is the one that is used." if login.exists() else f"Move it to {login}, or sign in again."
    return [(str(path), f"Agents work in the vault. {do}")]


def _in_environment(computer: Computer) -> list[tuple[str, str]]:
    environment = computer.environment
    folder = environment.get("CLAUDE_CONFIG_DIR")
    found = [
        (name, f"Services do not have the variables of a shell. {_STORE}") for name in _SECRETS if environment.get(name)
    ]
    found = found if is_installed(computer) else []
    if (
        folder
        and Path(folder) != computer.user_home / ".claude"
        and (path := Path(folder) / ".credentials.json").is_file()
    ):
        found.append((str(path), f"Only ~/.claude is looked at, not what CLAUDE_CONFIG_DIR names. {_STORE}"))
    return found


def _of_claude_code(computer: Computer) -> list[tuple[str, str]]:
    """Return the credentials that Claude Code itself would use, where this computer has none."""
    found = []
    if _text(computer.user_home / ".claude.json", "primaryApiKey"):
        found.append((f"{computer.user_home}/.claude.json: primaryApiKey", f"It is Claude Code's own. {_STORE}"))
    settings = computer.user_home / ".claude" / "settings.json"
    if _text(settings, "apiKeyHelper"):
        found.append((f"{settings}: apiKeyHelper", f"Nothing runs it here. {_STORE}"))
    environment = _document(settings).get("env")
    for name in _SECRETS:
        if isinstance(environment, dict) and environment.get(name):
            found.append((f"{settings}: {name}", f"This file is not read here. {_STORE}"))
    return found


def _has_one(computer: Computer) -> bool:
    if computer.provider is not None:
        return computer.provider["credential"] is not None
    try:
        return provider_of(computer)[1] is not None
    except (ParachuteError, NotApplicable):
        return False


def _text(path: Path, name: str) -> bool:
    return isinstance(value := _document(path).get(name), str) and bool(value)


def _document(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(read_regular(path, _LIMIT))
    except (OSError, ValueError, RecursionError, ParachuteError):
        return {}
    return value if isinstance(value, dict) else {}
