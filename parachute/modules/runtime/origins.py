"""Origins of what modules say: of their own data, of the network, and of conversations and modules that they have read."""

from parachute.modules.registry.models import Trust
from parachute.modules.runtime.models import ApprovedModule
from parachute.security.origin import Origin, lowest


class ModuleOrigins:
    """What each module may pass on; what it has read counts until the server ends, since nobody sees what becomes of it."""

    def __init__(self) -> None:
        self._read: dict[str, Origin] = {}

    def of(self, module: ApprovedModule) -> Origin:
        """Return the origin of what a module keeps, as its manifest has it."""
        permissions = module.manifest.permissions
        if module.trust is Trust.UNTRUSTED:
            return Origin.UNTRUSTED_MODULE
        if permissions.network:
            return Origin.WEB
        return Origin.OWN_FILE if permissions.conversations == "none" else Origin.AGENT_FILE

    def of_words(self, module: ApprovedModule) -> Origin:
        """Return the lowest origin of what a module may say, with what it has read."""
        return lowest(self.of(module), self._read.get(module.name, Origin.OWNER))

    def has_read(self, module: str, origin: Origin) -> None:
        """Note what a module was told."""
        self._read[module] = lowest(self._read.get(module, Origin.OWNER), origin)
