"""Approved copies: verification before every start, their manifests, and the check that they can be enabled together."""

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from parachute.base.errors import Conflict, NotFound, ParachuteError
from parachute.modules.manifest.loading import load
from parachute.modules.manifest.models import Manifest
from parachute.modules.registry.dependencies import PACKAGES, fits
from parachute.modules.registry.interfaces import check_fits
from parachute.modules.registry.models import InstalledModule, Places
from parachute.modules.trees import hashing

CODE = "code"


class Damaged(Conflict):
    """A verified copy is not what was approved, so it does not run."""

    key = "module_damaged"


class Runnable(Struct, frozen=True):
    """A module ready to run: absolute paths of its verified files and of its data."""

    module: InstalledModule
    code: Path
    packages: Path
    data: Path


def verify(places: Places, module: InstalledModule) -> Runnable:
    """Compare every file of the copy with what was approved; error: Damaged, which names what differs."""
    copy = places.copy(module.name, module.digest)
    code, packages = module.dev or copy / CODE, copy / PACKAGES
    try:
        if module.dev is None:
            _compare(module, code, module.hash)
        if module.packages_hash is None:
            if any(packages.iterdir()):
                raise _damaged(module, f"{packages} holds packages that were not approved")
        else:
            _compare(module, packages, module.packages_hash)
    except OSError as error:
        raise _damaged(module, f"{error.filename} cannot be read ({error.strerror})") from error
    return Runnable(module, code, packages, places.data(module.name))


def is_intact(places: Places, module: InstalledModule) -> bool:
    """True if the copy is what was approved and fits the running interpreter."""
    try:
        verify(places, module)
        return fits(places.copy(module.name, module.digest))
    except (OSError, ParachuteError):
        return False


def approved_manifest(places: Places, module: InstalledModule) -> Manifest:
    """The manifest in the approved copy, or of a module that runs in place the one in its folder, as they are now.

    Errors: Damaged if it is gone, ManifestInvalid.
    """
    try:
        return load(module.dev or places.copy(module.name, module.digest) / CODE)
    except NotFound as error:
        again = (
            f"install it again: parachute modules install {module.dev} --dev"
            if module.dev
            else f"`parachute modules approve {module.name}` renews the copy."
        )
        raise Damaged(
            f"The approved manifest of the module {module.name} is gone.", again.capitalize(), key="manifest_gone"
        ) from error


def check_fits_installed(places: Places, installed: Iterable[InstalledModule], new: Manifest) -> None:
    """Check that a module can be enabled together with the installed modules that are; error: DoesNotFit."""
    enabled = []
    for module in installed:
        if not module.enabled or module.approved_at is None:
            continue
        try:
            enabled.append(approved_manifest(places, module))
        except (ParachuteError, OSError):
            # It cannot start like this, and is compared when somebody makes it anew.
            continue
    check_fits(new, enabled)


def _compare(module: InstalledModule, folder: Path, digest: str) -> None:
    try:
        hashing.verify(folder, digest)
    except ParachuteError as error:
        raise _damaged(module, error.message.rstrip(".")) from error


def _damaged(module: InstalledModule, problem: str) -> Damaged:
    again = module.dev or module.source
    option = " --dev" if module.dev else ""
    return Damaged(
        f"The module {module.name} does not start: {problem}.",
        f"`parachute modules approve {module.name}` renews the copy, or reinstall it: "
        f"parachute modules install {again}{option}",
    )
