"""Facts about the computer and its modules for the maintenance agent; what cannot be read is left out."""

import contextlib
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from parachute import __version__
from parachute.base.errors import ParachuteError
from parachute.capabilities.mcp_servers.logins.store import Logins
from parachute.capabilities.mcp_servers.secrets import Secrets
from parachute.chat.runs.preparation import AgentServices
from parachute.modules.registry.models import InstalledModule
from parachute.modules.registry.service import Modules
from parachute.modules.registry.verification import CODE
from parachute.sandbox.git.tokens import Tokens
from parachute.security.keys.cli_token import CliToken


class Facts:
    """Reads the state directory; every method waits for the disk and leaves out what is broken."""

    def __init__(self, services: AgentServices, modules: Modules) -> None:
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
            modules = [to_builtins(status) for status in self._modules.list()]
        settings = self._services.settings.model_dump(mode="json")
        return {"version": __version__, "settings": settings, "modules": modules}

    def secrets(self) -> tuple[str, ...]:
        """All known secrets, which no agent may read."""
        found: list[str] = []
        gateway = self._services.gateway
        with contextlib.suppress(ParachuteError, OSError):
            if credential := gateway.upstream.credential(gateway.upstream.provider):
                found.append(credential.secret)
        with contextlib.suppress(ParachuteError, OSError):
            found.append(CliToken(self._services.home.root).obtain())
        with contextlib.suppress(ParachuteError, OSError):
            found += Secrets(self._services.home.root).values()
        with contextlib.suppress(ParachuteError, OSError):
            found += Logins(self._services.home.root).secrets()
        with contextlib.suppress(ParachuteError, OSError):
            found += (each.token for each in Tokens(self._services.home.root).all())
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
