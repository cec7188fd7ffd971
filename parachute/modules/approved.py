"""What the user agreed to: manifests of approved modules, and whether they can be enabled beside each other."""

from collections.abc import Iterable

from parachute.errors import NotFound, ParachuteError
from parachute.manifest import Manifest, load
from parachute.modules.interfaces import check_fits
from parachute.modules.models import InstalledModule, Places
from parachute.modules.verification import CODE, Damaged


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
            else f"`parachute modules approve {module.name}` makes the copy anew."
        )
        raise Damaged(f"The approved manifest of the module {module.name} is gone.", again.capitalize()) from error


def check_fits_installed(places: Places, installed: Iterable[InstalledModule], new: Manifest) -> None:
    """Look whether a module can be enabled beside the installed ones that are; error: DoesNotFit."""
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
