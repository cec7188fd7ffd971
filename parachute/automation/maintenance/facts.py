"""What is known of the computer and its modules, as far as it can be read: what cannot is what the agent is asked to look at."""

import contextlib
from pathlib import Path
from typing import Any

from parachute import __version__
from parachute.errors import ParachuteError
from parachute.keys.cli_token import CliToken
from parachute.mcp_servers.secrets import Secrets
from parachute.modules.models import InstalledModule
from parachute.modules.service import Modules
from parachute.modules.verification import CODE
from parachute.runs.preparation import Services


class Facts:
    """Reads the folder of trust for core; every method waits for the disk and leaves out what is broken."""

    def __init__(self, services: Services, modules: Modules) -> None:
        self._services = services
        self._modules = modules

    def code(self) -> dict[str, Path]:
        """The approved copy of the code of each module, by name.

        Those that run in place are left out: that is their author's folder, with whatever else is in there.
        """
        found = {}
        for module in self._installed():
            code = self._modules.places.copy(module.name, module.digest) / CODE
            if module.dev is None and code.is_dir():
                found[module.name] = code.resolve()
        return found

    def state(self) -> dict[str, Any]:
        """The version, the settings, and how each module is."""
        modules: list[dict[str, Any]] = []
        with contextlib.suppress(ParachuteError, OSError):
            modules = [status.as_json() for status in self._modules.list()]
        settings = self._services.settings.model_dump(mode="json")
        return {"version": __version__, "settings": settings, "modules": modules}

    def secrets(self) -> tuple[str, ...]:
        """What must not stand in anything that an agent reads."""
        found: list[str] = []
        gateway = self._services.gateway
        with contextlib.suppress(ParachuteError, OSError):
            if credential := gateway.credential(gateway.provider):
                found.append(credential.secret)
        with contextlib.suppress(ParachuteError, OSError):
            found.append(CliToken(self._services.home.root).obtain())
        with contextlib.suppress(ParachuteError, OSError):
            found += Secrets(self._services.home.root).values()
        for module in self._installed():
            with contextlib.suppress(ParachuteError, OSError):
                manifest = self._modules.manifest(module.name)
                values = self._modules.settings.values(module.name, manifest)
                secret = (setting.name for setting in manifest.settings if setting.type == "secret")
                found += [str(values[name]) for name in secret if values.get(name)]
        return tuple(found)

    def _installed(self) -> tuple[InstalledModule, ...]:
        try:
            return self._modules.installed()
        except (ParachuteError, OSError):
            return ()
