"""The root of the agents' image, as a tarball in the cache: the guest has no network to make it in."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from parachute.sandbox.image import recipe as image
from parachute.sandbox.image.contents import debian_packages
from tests.appliance import recipe
from tests.appliance.build_root import locked, run

SMALL = debian_packages(without=("gcc", "libc-dev", "make", "npm"))
"""For a guest that is slow with files: as with `sandbox.without`, a third of those of the whole image."""


def tarball(packages: Sequence[str] = image.PACKAGES) -> Path:
    """The tarball with these packages; made if it is not there yet, in a minute."""
    path = recipe.cache() / f"agent-{image.digest(packages)}.tar"
    recipe.cache().mkdir(parents=True, exist_ok=True)
    with locked():
        if not path.exists():
            with tempfile.TemporaryDirectory(prefix="building-", dir=recipe.cache()) as place:
                made = Path(place) / "root.tar"
                environment = image.root_environment(Path(place))
                run(
                    "env",
                    "-i",
                    *(f"{name}={value}" for name, value in environment.items()),
                    *image.root_command(made, packages),
                )
                made.rename(path)
    os.utime(path)
    return path
