"""`parachute modules limit`: take folders, tools or the network from an agent of a module."""

import typer

from parachute.base.errors import InvalidInput
from parachute.cli.commands import JSON
from parachute.cli.installation import modules as installed
from parachute.cli.modules import print_module, reload_server
from parachute.cli.output import print_answer
from parachute.config.settings.home import Home


def limit(
    name: str = typer.Argument(help="Name of the module."),
    agent: str = typer.Argument(help="An agent of its manifest."),
    folder: list[str] = typer.Option([], "--folder", help="Only this folder; may be given several times."),
    tool: list[str] = typer.Option([], "--tool", help="Only this tool; may be given several times."),
    no_network: bool = typer.Option(False, "--no-network", help="It reaches no host."),
    reset: bool = typer.Option(False, "--reset", help="Back to all that you agreed to."),
    as_json: bool = JSON,
) -> None:
    """Limit an agent of a module to less than you agreed to; it never gets more."""
    # It reads patterns and manifests.
    from parachute.modules.registry.agent_limits import AgentLimit

    if reset == bool(folder or tool or no_network):
        raise InvalidInput(
            "What shall be limited?", "Give --folder, --tool or --no-network, or --reset alone.", key="no_limit_given"
        )
    home = Home.find()
    wanted = AgentLimit(tuple(folder) or None, tuple(tool) or None, "none" if no_network else None)
    found = installed(home).limit(name, agent, None if reset else wanted)
    reload_server(home)
    print_answer(found, as_json, lambda _: print_module(found))
