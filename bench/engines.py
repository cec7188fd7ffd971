"""Computers whose agents run in one engine, for comparing the engines with each other."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from psutil import NoSuchProcess

from bench.computers import MeasuredComputer
from bench.processor_time import processor_seconds
from parachute.base.errors import ParachuteError
from parachute.config.settings.home import Home
from parachute.config.settings.store import load
from parachute.sandbox.engines import bubblewrap, containers
from parachute.sandbox.engines.engines import trial
from parachute.sandbox.image.models import Image
from tests.support.messages_api import MessagesAPI, text

_SETTLE_SECONDS, _QUIET_SECONDS, _IDLE_SHARE = 30.0, 0.2, 0.02
ENGINES = ("direct", "bubblewrap", "podman")
_PASSED_ON = ("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR")


def reason_missing(engine: str) -> str | None:
    """Return the reason why this user cannot measure an engine on this machine, or None."""
    if engine == "direct":
        return None
    if engine == "bubblewrap":
        return bubblewrap.unavailable()
    home = Home.find()
    image = containers.image_of(home)
    try:
        return containers.unavailable(trial(home, load(home).sandbox, image.id) if image else None)
    except ParachuteError as error:
        return error.message


def settle(computer: MeasuredComputer) -> None:
    """Wait until the agents have done next to nothing for a while: after an answer they go on by themselves for a second.

    Error: TimeoutError.
    """
    deadline = time.monotonic() + _SETTLE_SECONDS
    used = _processor_seconds(computer)
    while time.monotonic() < deadline:
        time.sleep(_QUIET_SECONDS)
        before, used = used, _processor_seconds(computer)
        if abs(used - before) < _IDLE_SHARE * _QUIET_SECONDS:
            return
    raise TimeoutError("The agents are still busy.")


def _processor_seconds(computer: MeasuredComputer) -> float:
    total = 0.0
    for process in computer.others:
        with suppress(NoSuchProcess):
            total += processor_seconds(process)
    return total


@contextmanager
def computer_of(engine: str, **agents: Any) -> Iterator[tuple[MeasuredComputer, MessagesAPI]]:
    """A running computer whose sandboxes are of an engine, and its model; `agents` are settings.

    With Podman it takes the image, and the setting about limits, of this user's own installation.
    """
    sandbox: dict[str, Any] = {}
    image: Image | None = None
    if engine != "direct":
        sandbox["engine"] = engine
    with MessagesAPI() as api:
        api.default(text("Hello."))
        environment = {"ANTHROPIC_API_KEY": "sk-ant-api03-bench", "ANTHROPIC_BASE_URL": api.url}
        if engine == "podman":
            home = Home.find()
            image = containers.image_of(home)
            sandbox["limits"] = load(home).sandbox.limits
            data = os.environ.get("XDG_DATA_HOME") or f"{os.environ['HOME']}/.local/share"
            environment |= {"XDG_DATA_HOME": data}  # where Podman has this user's images
            environment |= {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        settings = {"agents": {"spare": False, **agents}, "sandbox": sandbox}
        computer = MeasuredComputer(settings=settings, environment=environment)
        if image:
            image.save(computer.home.root)
        with computer:
            yield computer, api
