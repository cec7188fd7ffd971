"""Official modules on an installation of a test."""

import httpx2

from parachute.modules.registry.service import Modules
from tests.support.installation import PLAIN, Installation


def install(installation: Installation, *names: str) -> None:
    """Install modules as `parachute setup` does, and let the server take them up."""
    modules = Modules(installation.home, installation.vault)
    for name in names:
        with modules.installing(f"parachute://{name}") as installing:
            installing.finish()
    answer = httpx2.post(f"{installation.url}/api/modules/reload", **PLAIN, timeout=60)
    assert answer.status_code == 200, answer.text
