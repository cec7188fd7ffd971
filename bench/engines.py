"""Computers whose agents run in one engine, for comparing the engines with each other."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench.computers import MeasuredComputer
from parachute.errors import ParachuteError
from parachute.image.models import Image
from parachute.sandbox import bubblewrap, podman
from parachute.sandbox.engines import trial
from parachute.settings.home import Home
from parachute.settings.store import load
from tests.support.messages_api import MessagesAPI, text

ENGINES = ("direct", "bubblewrap", "podman")
_PASSED_ON = ("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR")


def reason_missing(engine: str) -> str | None:
    """Why an engine cannot be measured by this user on this machine, or None."""
    if engine == "direct":
        return None
    if engine == "bubblewrap":
        return bubblewrap.unavailable()
    home = Home.find()
    image = podman.image_of(home)
    try:
        return podman.unavailable(trial(home, load(home).sandbox, image.id) if image else None)
    except ParachuteError as error:
        return error.message


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
            image = podman.image_of(home)
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
