"""The fixed table of units: a message can name one, but never what is run."""

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from parachute.base.errors import InvalidInput
from parachute.base.files import private_folder
from parachute.config.agent_program import agent_program
from parachute.config.settings.home import Home
from parachute.supervisor.command_runner.starting import SERVER, socket_path
from parachute.supervisor.models import Confinement, Unit
from parachute.supervisor.specifications import connector_unit, module_unit, transcriber_unit
from parachute.supervisor.specifications.connector import NAME

_SANDBOX = re.compile(r"sandbox@([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
_MODULE = re.compile(r"module@([a-z][a-z0-9_-]{0,39})")
_MCP = re.compile(r"mcp@([A-Za-z0-9](?:[A-Za-z0-9-]|_(?=[A-Za-z0-9-])){0,39})")
_CONNECTOR = re.compile(rf"connector@({NAME})")
_SETTINGS = {
    "model": frozenset(
        {"PARACHUTE_OFFLINE_MODEL", "PARACHUTE_OFFLINE_IDLE_SECONDS", "PARACHUTE_OFFLINE_CONTEXT_TOKENS"}
    ),
    "meaning": frozenset({"PARACHUTE_MEANING_IDLE_SECONDS"}),
    "transcriber": transcriber_unit.SETTINGS,
}
_SINGLE = ("direct", "model", "meaning", "transcriber")
_MEANING_MEMORY = 512 << 20
_DIRECT_IDLE_SECONDS = 600
_PROGRAMS_IDLE_SECONDS = 30
_PATH_LIMIT = 107  # sun_path of a Unix socket, without its closing zero


def core(host: str, port: int) -> Unit:
    """The API."""
    return Unit(
        "core",
        _child("parachute.server"),
        listen=((host, port),),
        notifies=True,
        watchdog_seconds=60,
        stop_seconds=20,
        with_credentials=True,
        hardened=True,
    )


def programs(home: Home) -> Unit:
    """The command runner, for a server that systemd confines."""
    import parachute_runner

    folder = Path(parachute_runner.__path__[0]).parent
    command = _child(str(SERVER), str(folder), str(_PROGRAMS_IDLE_SECONDS))
    return Unit("programs", command, listen=(_socket(socket_path(home.root)),), on_demand=True)


def by_name(home: Home, name: str, environment: Mapping[str, str] | None = None, *, confines: bool = False) -> Unit:
    """A unit that core may open by its name: `direct`, `model`, `meaning`, `transcriber`, `sandbox@{session}`, `module@{name}`,
    `mcp@{name}` or `connector@{platform}`; error: InvalidInput.

    `environment` may hold the settings of the model, of the index of meanings or of the transcriber, and nothing else.
    `confines`: who starts it enforces its confinement.
    """
    check_name(name)
    environment = dict(environment or {})
    if environment.keys() - _SETTINGS.get(name, frozenset()):
        raise InvalidInput(f"{name} has no settings named {', '.join(sorted(environment))}.", key="unknown_variable")
    if name == "direct":
        command = _direct_runner()
        return Unit(name, command, listen=(direct_socket(home),), on_demand=True)
    if name == "model":
        return Unit(
            name, _child("parachute.llm.offline"), listen=(model_socket(home),), on_demand=True, environment=environment
        )
    if name == "transcriber":
        return transcriber_unit.unit(home.root, transcriber_socket(home), environment, _child, confines=confines)
    if name == "meaning":
        return _meaning(home, environment, confines)
    if match := _SANDBOX.fullmatch(name):
        command = _child("parachute.sandbox.engines.launch", match[1])
        listen = (agent_socket(home, match[1]),)
        return Unit(name, command, listen=listen, on_demand=True, stop_seconds=5, delegates=True, attempts=3)
    if match := _MODULE.fullmatch(name):
        return module_unit.unit(home.root, match[1], module_socket(home, match[1]), _child, confines=confines)
    if match := _MCP.fullmatch(name):
        command = _child("parachute.capabilities.mcp_servers.launch", match[1])
        return Unit(name, command, listen=(mcp_socket(home, match[1]),), on_demand=True, stop_seconds=5)
    if match := _CONNECTOR.fullmatch(name):
        socket = connector_socket(home, match[1])
        return connector_unit.unit(home.root, match[1], socket, _child, confines=confines)
    raise AssertionError(name)


def check_name(name: str) -> None:
    """Check that the server may open and close a unit of this name; error: InvalidInput."""
    kinds = (_SANDBOX, _MODULE, _MCP, _CONNECTOR)
    if name not in _SINGLE and not any(kind.fullmatch(name) for kind in kinds):
        raise InvalidInput(f"{name!r} is not a unit that can be opened.", key="no_such_unit")


def works_for_agents(name: str) -> bool:
    """True for a unit that only agents need: it ends, and does not start, while all agents are stopped."""
    return (name in _SINGLE and name != "meaning") or name.startswith(("sandbox@", "mcp@", "connector@"))


def agent_socket(home: Home, session: str) -> Path:
    """The socket of the agent runner in a session's sandbox."""
    return _socket(home.run / "sandbox" / session / "agent.sock")


def direct_socket(home: Home) -> Path:
    """The socket of the runner of direct sessions."""
    return _socket(home.run / "direct" / "agent.sock")


def module_socket(home: Home, name: str) -> Path:
    """The socket of a module's host."""
    return _socket(home.run / "module" / name / "host.sock")


def mcp_socket(home: Home, name: str) -> Path:
    """The socket of an MCP server of the user."""
    return _socket(home.run / "mcp" / name / "server.sock")


def connector_socket(home: Home, platform: str) -> Path:
    """The socket of the connector of a messenger."""
    return _socket(home.run / "connector" / platform / "connector.sock")


def model_socket(home: Home) -> Path:
    """The socket of the offline model."""
    return _socket(home.run / "model" / "model.sock")


def transcriber_socket(home: Home) -> Path:
    """The socket of the process that transcribes."""
    return _socket(home.run / "transcriber" / "voice.sock")


def meaning_socket(home: Home) -> Path:
    """The socket of the index of meanings."""
    return _socket(home.run / "meaning" / "index.sock")


def check_home(home: Home) -> None:
    """Check that every socket's path fits; error: InvalidInput saying what to set."""
    agent_socket(home, "0" * 36)


def _child(program: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "parachute.supervisor.children.child", str(os.getpid()), program, *arguments)


def _meaning(home: Home, environment: dict[str, str], confines: bool) -> Unit:
    """The index of meanings: it reads what its owner wrote, and has no network and no file but its own."""
    if confines:
        private_folder(home.meaning)  # what a service writes has to be there when it starts
    confinement = Confinement(
        write=(home.meaning,),
        hide=module_unit.private(home.root),
        memory_bytes=_MEANING_MEMORY,
        processes=64,
    )
    program = "parachute.llm.meaning" if confines else "parachute.sandbox.engines.meaning"
    return Unit(
        "meaning",
        _child(program),
        listen=(meaning_socket(home),),
        on_demand=True,
        environment=environment,
        confinement=confinement,
    )


def _direct_runner() -> tuple[str, ...]:
    from importlib.util import find_spec

    runner = find_spec("parachute_runner.runner")
    if not runner or not runner.origin:
        raise InvalidInput("The package parachute_runner is not installed.", key="runner_missing")
    return _child(runner.origin, "--idle-seconds", str(_DIRECT_IDLE_SECONDS), "--", str(agent_program()))


def _socket(path: Path) -> Path:
    if len(os.fsencode(path)) > _PATH_LIMIT:
        raise InvalidInput(
            f"The path {path} is too long for a socket ({_PATH_LIMIT} bytes).",
            "Set PARACHUTE_HOME to a folder with a shorter path.",
            key="socket_path_too_long",
        )
    return path
