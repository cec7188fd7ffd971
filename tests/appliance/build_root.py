"""Builds the guest's root, unless it is in the cache: `python -m tests.appliance.build_root`."""

import contextlib
import fcntl
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.appliance import recipe

_TOOLS = {
    "ip": "iproute2",
    "mmdebstrap": "mmdebstrap",
    "ss": "iproute2",
    "systemd-nspawn": "systemd-container",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "unshare": "util-linux",
}
_KEPT_SECONDS = 30 * 86400
_DEBIAN_KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def missing() -> str | None:
    """The reason why this machine cannot boot a guest, or None."""
    if sys.platform != "linux":
        return "The appliance tests boot systemd in a container, which needs Linux."
    if os.geteuid() != 0:
        return "The appliance tests mount file systems, which only root may: run them as root."
    packages = {package for program, package in _TOOLS.items() if not shutil.which(program)}
    if not _DEBIAN_KEYS.exists():
        packages.add("debian-archive-keyring")
    if packages:
        return f"Programs are missing:  apt-get install {' '.join(sorted(packages))}"
    return None


def build() -> tuple[Path, Path, Path]:
    """The layers of the guest's root, the upper one first; built if they are not there yet."""
    recipe.cache().mkdir(parents=True, exist_ok=True)
    with locked():
        debian = layer(recipe.debian(), _build_debian)
        python = layer(recipe.python(), lambda folder: _build_python(folder, debian))
        compiled = layer(recipe.compiled(), lambda folder: _build_compiled(folder, debian))
        _remove_old((debian, python, compiled))
    return compiled, python, debian


def layer(layer: recipe.Layer, build: Callable[[Path], None]) -> Path:
    """One layer, built if it is not there; only with the lock held."""
    if not layer.path.exists():
        sys.stderr.write(f"Building {layer.path} ...\n")
        # Built under another name and then renamed, so that an interrupted build is never taken for a whole one.
        with tempfile.TemporaryDirectory(prefix="building-", dir=recipe.cache()) as place:
            folder = Path(place) / "root"
            build(folder)
            folder.rename(layer.path)
    os.utime(layer.path)
    return layer.path


def _build_debian(folder: Path) -> None:
    hook = f"--customize-hook=chroot \"$1\" sh -c '{recipe.setup_script()}'"
    run(
        "mmdebstrap",
        "--quiet",
        "--mode=root",
        "--variant=minbase",
        "--format=directory",
        f"--include={','.join(recipe.PACKAGES)}",
        hook,
        recipe.SUITE,
        str(folder),
    )


def _build_python(folder: Path, debian: Path) -> None:
    environment = folder / recipe.ENVIRONMENT.lstrip("/")
    packages = environment / "lib" / f"python{recipe.PYTHON}" / "site-packages"
    packages.mkdir(parents=True)
    (environment / "bin").mkdir()
    (environment / "bin" / "python").symlink_to(f"/usr/bin/python{recipe.PYTHON}")
    (environment / "bin" / "python3").symlink_to("python")
    (environment / "pyvenv.cfg").write_text(f"home = /usr/bin\nversion = {recipe.PYTHON}\n")
    # The guest has another Python than this machine, so nothing may be compiled here: wheels only.
    run(
        sys.executable,
        *("-m", "uv", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:"),
        *("--target", str(packages), "--python-version", recipe.PYTHON),
        *("--python-platform", f"{platform.machine()}-manylinux_2_40", "-r", str(recipe.REQUIREMENTS)),
    )
    (packages / "parachute.pth").write_text(f"{recipe.SOURCE}\n{recipe.SOURCE}/sandbox\n")
    command = folder / "usr" / "local" / "bin" / "parachute"
    command.parent.mkdir(parents=True)
    command.write_text(recipe.command_script())
    command.chmod(0o755)
    _compile(folder, debian, f"{recipe.ENVIRONMENT}/lib")


def _build_compiled(folder: Path, debian: Path) -> None:
    source = folder / recipe.SOURCE.lstrip("/")
    for name in recipe.COMPILED:
        shutil.copytree(recipe.TREE / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    # By what they say: times of files differ from clone to clone, and tests change copies.
    _compile(folder, debian, recipe.SOURCE, "--invalidation-mode", "checked-hash")
    for path in sorted(source.rglob("*"), reverse=True):
        if path.is_dir():
            path.chmod(0o755)
            with contextlib.suppress(OSError):
                path.rmdir()
        elif path.suffix == ".pyc":
            path.chmod(0o644)
        else:
            path.unlink()


def _compile(folder: Path, debian: Path, inside: str, *options: str) -> None:
    # Its users cannot write here: what is not compiled now would be compiled again by every process of every test.
    script = f"""
        set -eu
        mkdir /run/work /run/root
        mount -t overlay overlay -o "lowerdir=$2,upperdir=$1,workdir=$3" /run/root
        chroot /run/root /usr/bin/python{recipe.PYTHON} -m compileall -q -j 0 {shlex.join(options)} {inside}
    """
    with tempfile.TemporaryDirectory(prefix="work-", dir=folder.parent) as work:
        unshared = ("unshare", "--mount", "sh", "-c", f"mount -t tmpfs tmpfs /run\n{script}", "sh")
        run(*unshared, str(folder), str(debian), work)


def run(*command: str) -> None:
    """Run a step of a build; one that fails is an error."""
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


@contextmanager
def locked() -> Iterator[None]:
    """One build at a time, of all that use this cache."""
    descriptor = os.open(recipe.cache() / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _remove_old(used: tuple[Path, ...]) -> None:
    for path in recipe.cache().iterdir():
        # With the lock held, a build that is not ours is one that was cut off.
        cut_off = path.name.startswith("building-")
        if path.name == "lock" or path in used:
            continue
        if cut_off or time.time() - path.stat().st_mtime > _KEPT_SECONDS:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def main() -> int:
    """0 when the root is there; 1 with a sentence when it cannot be built here."""
    if reason := missing():
        sys.stderr.write(f"{reason}\n")
        return 1
    try:
        build()
    except subprocess.CalledProcessError as error:
        sys.stderr.write(f"The guest's root could not be built: {error.cmd[0]} ended with {error.returncode}.\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
