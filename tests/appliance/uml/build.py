"""Builds the kernel and the disk, unless they are in the cache: `python -m tests.appliance.uml.build`."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.appliance import agent_root, build_root
from tests.appliance.recipe import broker
from tests.appliance.uml import recipe
from tests.appliance.uml.recipe import Kernel

PROGRAM = "usr/bin/linux.uml"


@dataclass(frozen=True, slots=True)
class Machine:
    """The folder with the kernel, the file with the root, and the folder with what its Python makes of the tree."""

    kernel: Kernel
    kernel_folder: Path
    image: Path
    compiled: Path


def missing() -> str | None:
    """The reason why this machine cannot boot the guest, or None."""
    if reason := build_root.missing():
        return reason
    if not shutil.which("mkfs.ext4"):
        return "A program is missing:  apt-get install e2fsprogs"
    return None


def build() -> Machine:
    """The kernel and the disk, built if they are not there yet."""
    compiled, *layers = build_root.build()
    with build_root.locked():
        kernel = _kernel()
        image = build_root.layer(recipe.image(), lambda place: _build_image(place, tuple(layers)))
    return Machine(kernel, kernel.layer.path, image, compiled)


def _kernel() -> Kernel:
    for number, kernel in enumerate(recipe.KERNELS, start=1):
        try:
            build_root.layer(kernel.layer, partial(_build_kernel, kernel=kernel))
        except subprocess.CalledProcessError:
            if number == len(recipe.KERNELS):
                raise
            sys.stderr.write(f"{kernel.suite} has no {kernel.package}; trying {recipe.KERNELS[number].suite}.\n")
        else:
            return kernel
    raise AssertionError("recipe.KERNELS names none")


def _build_kernel(folder: Path, kernel: Kernel) -> None:
    # Unpacked only, with the libraries that it depends on: it runs in this folder, not in that of the guest.
    build_root.run(
        *("mmdebstrap", "--quiet", "--mode=root", "--variant=extract", "--format=directory"),
        # A copy of the archive may be old; what is wanted from it is one version of one package.
        '--aptopt=Acquire::Check-Valid-Until "false"',
        f"--include={kernel.package}",
        kernel.suite,
        str(folder),
    )
    for name in ("dev", "proc", "tmp"):
        (folder / name).mkdir(exist_ok=True)
    for name in ("lib", "lib64"):
        if not (folder / name).exists():
            (folder / name).symlink_to(f"usr/{name}")
    if not (folder / PROGRAM).is_file():
        raise subprocess.CalledProcessError(1, ["mmdebstrap"])


def _build_image(image: Path, layers: tuple[Path, ...]) -> None:
    script = """
        set -eu
        mount -t tmpfs tmpfs /run
        mkdir /run/upper /run/work /run/root
        mount -t overlay overlay -o "lowerdir=$1,upperdir=/run/upper,workdir=/run/work" /run/root
        root=/run/root
        printf %s "$3" > "$root/etc/systemd/system/$4"
        mkdir -p "$root/etc/systemd/system/basic.target.wants"
        ln -s "../$4" "$root/etc/systemd/system/basic.target.wants/"
        # Newer than /usr, or systemd would do the work of a first boot after an update.
        touch "$root/etc/.updated" "$root/var/.updated"
        truncate --size="$5G" "$2"
        # Without a journal: a disk that is thrown away at the end needs none, and it would be written twice.
        mkfs.ext4 -q -F -m 0 -O ^has_journal,^metadata_csum -E lazy_itable_init=1,nodiscard -d "$root" "$2"
    """
    broker(upper := image.with_name("broker"))
    build_root.run(
        *("unshare", "--mount", "sh", "-c", script, "sh"),
        *(":".join(map(str, (upper, *layers))), str(image), recipe.UNIT_TEXT, recipe.UNIT, str(recipe.DISK_GIBIBYTES)),
    )


def main() -> int:
    """0 when both are there, and the root of the agents' image; 1 with a sentence when they cannot be built here."""
    if reason := missing():
        sys.stderr.write(f"{reason}\n")
        return 1
    try:
        build()
        agent_root.tarball()
        agent_root.tarball(agent_root.SMALL)
    except subprocess.CalledProcessError as error:
        sys.stderr.write(f"It could not be built: {error.cmd[0]} ended with {error.returncode}.\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
