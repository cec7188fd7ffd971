"""The root of the agents' image, as a tarball in the cache: the guest has no network to make it in."""

import os
import tempfile
from pathlib import Path

from parachute.sandbox.image import recipe as image
from tests.appliance import recipe
from tests.appliance.build_root import locked, run


def tarball() -> Path:
    """The tarball; made if it is not there yet, in a minute."""
    path = recipe.cache() / f"agent-{image.digest()}.tar"
    recipe.cache().mkdir(parents=True, exist_ok=True)
    with locked():
        if not path.exists():
            with tempfile.TemporaryDirectory(prefix="building-", dir=recipe.cache()) as place:
                made = Path(place) / "root.tar"
                environment = image.root_environment(Path(place))
                run("env", "-i", *(f"{name}={value}" for name, value in environment.items()), *image.root_command(made))
                made.rename(path)
    os.utime(path)
    return path
