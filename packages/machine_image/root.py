"""The root of the image: Debian by mmdebstrap, our package, and what makes a machine of it."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from packages import program
from packages.debian import building
from packages.debian.units import units
from packages.machine_image import lock, recipe


def build(folder: Path, locked: dict[str, str], ssh_keys: Sequence[str]) -> Path:
    """The root below a folder; with no lock, of the newest versions. Error: subprocess.CalledProcessError for a step that fails."""
    root = folder / "root"
    package = building.build(folder / "package")
    (folder / "locked").write_text(lock.preferences(locked))
    _lay_out(folder / "files", ssh_keys)
    command = [
        # Its /proc and /sys would be mounted where everybody sees them.
        *(
            "unshare",
            "--mount",
            "--",
            "mmdebstrap",
            "--quiet",
            "--mode=root",
            "--variant=minbase",
            "--format=directory",
        ),
        f"--components={','.join(recipe.COMPONENTS)}",
        f"--include={','.join(recipe.PACKAGES)}",
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in recipe.LEFT_OUT),
        "--dpkgopt=path-include=/usr/share/doc/*/copyright",
        f"--dpkgopt=path-include=/usr/share/doc/{building.NAME}/*",
        # Not in the machine: a cut of power while something is upgraded.
        f"--dpkgopt={recipe.HASTE}",
        f"--setup-hook=upload {folder / 'locked'} /etc/apt/preferences.d/locked",
        f"--customize-hook=upload {package} /package.deb",
        f"--customize-hook=chroot \"$1\" sh -c '{recipe.INSTALL}'",
        # After the package: what it brings as a setting of the machine is changed there.
        f"--customize-hook=sync-in {folder / 'files'} /",
        f"--customize-hook=chroot \"$1\" sh -c '{recipe.SETUP}'",
        # Without an archive it takes Debian's own, with its security updates, and notes them in the root.
        *(program.SUITE, str(root)),
    ]
    aside = folder / "aside"
    aside.mkdir()
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, env=recipe.environment(aside))
    return root


def _lay_out(folder: Path, ssh_keys: Sequence[str]) -> None:
    """Write the files that go over the root."""
    shutil.copytree(recipe.FOLDER / "files", folder)
    # Those that `parachute service install` would write, for all addresses; an upgrade of the package renews them.
    own = folder / f"{program.HOME}/.config/systemd/user".lstrip("/")
    own.mkdir(parents=True)
    for name, text in units(recipe.ADDRESS).items():
        (own / name).write_text(text)
    subprocess.run(["chmod", "-R", "u=rwX,go=rX", str(folder)], check=True)
    if ssh_keys:
        keys = folder / "root/.ssh/authorized_keys"
        keys.parent.mkdir(mode=0o700, parents=True)
        keys.write_text("".join(f"{key}\n" for key in ssh_keys))
        keys.chmod(0o600)
        keys.parent.parent.chmod(0o700)
