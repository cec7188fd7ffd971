"""A machine with a disk that stays, whose power comes and goes."""

from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any

from tests.appliance.agents import Agents
from tests.appliance.test_crashes import healthy
from tests.appliance.uml.build import Machine
from tests.appliance.uml.disk import Disk
from tests.appliance.uml.guest import UmlGuest
from tests.appliance.uml.serial_line import Silence
from tests.appliance.uml.writers import Write, chats, entries, settings

MODEL_PORT = "8090"  # the same at each boot, so that the settings of the first one hold


class Powered:
    """A machine whose power comes and goes; `computer` is what runs on it now."""

    computer: Agents

    def __init__(self, machine: Machine, disk: Disk) -> None:
        self._machine = machine
        self._disk = disk
        self._guest: UmlGuest | None = None
        self._ending = ExitStack()
        self.boots = 0
        self.acknowledged: dict[Callable[[Agents], Write], list[Any]] = {entries: [], chats: [], settings: []}

    def on(self, command: str = "true") -> None:
        """Boot, with a model, and wait until the computer is healthy that a command installs."""
        self.boots += 1
        self._guest = self._ending.enter_context(UmlGuest(self._machine, self._disk.options))
        self.computer = Agents(self._guest.user)
        # The model ends with the guest; nobody is left who could stop it, or remove what it has said.
        self.computer.run("rm -f ~/model.said")
        self._ending.enter_context(suppress(Silence))
        url = self._ending.enter_context(self.computer.serving("model", "tests.appliance.scripted_model", MODEL_PORT))
        if self.boots == 1:
            self.computer.use_model(url)
        self.computer.run(command)
        healthy(self.computer)

    @property
    def guest(self) -> UmlGuest:
        """The machine as it was switched on last."""
        assert self._guest is not None
        return self._guest

    @property
    def is_on(self) -> bool:
        """True while it has power."""
        return self._guest is not None and self._guest.processes() != []

    def off(self) -> None:
        """Cut the power."""
        self.guest.close()

    def close(self) -> None:
        """Cut it for good."""
        self.off()
        self._ending.close()
