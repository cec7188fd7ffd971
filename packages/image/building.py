"""The build of the image: a layer of Debian, a layer of the program, and a file that `podman load` and `docker load` read."""

import io
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from packages import program
from packages.image import archive
from parachute.sandbox.image import recipe

PACKAGES = ("bubblewrap", "ca-certificates", "git", "libgomp1", "python3", "restic", "tzdata")
STATE, VAULT = "/state", "/vault"
PORT = 3333
USER_ID = 1000
NAME = "localhost/parachute-computer"
START = program.FOLDER / "start.py"

_SETUP = f"""
set -eu
groupadd --gid {USER_ID} {program.USER}
useradd --uid {USER_ID} --gid {USER_ID} --no-create-home --home-dir {STATE} --shell /usr/sbin/nologin {program.USER}
install -d -m 700 -o {USER_ID} -g {USER_ID} {STATE} {VAULT}
find / -xdev -type f -perm /6000 -exec chmod a-s {{}} +
rm -rf /etc/hostname /etc/machine-id /etc/resolv.conf {recipe.EMPTIED}
"""
_LEFT_OUT = ("/usr/share/doc/*", "/usr/share/info/*", "/usr/share/locale/*", "/usr/share/man/*")


def build(target: Path) -> Path:
    """The image in a folder; error: subprocess.CalledProcessError for a step that fails."""
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="image-", dir=target) as made:
        base = Path(made) / "debian.tar"
        write_debian(base)
        return put_together(base, target)


def recipe_of_debian() -> tuple[str, ...]:
    """Return everything on which the layer of Debian depends."""
    return (program.SUITE, *PACKAGES, *_LEFT_OUT, _SETUP, str(recipe.EPOCH))


def write_debian(tarball: Path) -> None:
    """Make the layer of Debian, as an ordinary user or as root."""
    is_root = os.geteuid() == 0
    command = [
        # Root's would mount /proc and /sys of this machine where everybody sees them.
        *(("unshare", "--mount", "--") if is_root else ()),
        *("mmdebstrap", "--quiet", f"--mode={'root' if is_root else 'unshare'}", "--variant=minbase", "--format=tar"),
        f"--include={','.join(PACKAGES)}",
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in _LEFT_OUT),
        "--dpkgopt=path-include=/usr/share/doc/*/copyright",
        f"--customize-hook=chroot \"$1\" sh -c '{_SETUP}'",
        *(program.SUITE, str(tarball)),
    ]
    with tempfile.TemporaryDirectory(dir=tarball.parent) as aside:
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, env=recipe.root_environment(Path(aside)))


def put_together(debian: Path, target: Path) -> Path:
    """Write the image of a layer of Debian and the program as it is now."""
    with tempfile.TemporaryDirectory(prefix="image-", dir=target) as made:
        folder = Path(made)
        root = folder / "root"
        root.mkdir()
        program.install(root)
        shutil.copyfile(Path(__file__).parent / "files/start.py", root / START.relative_to("/"))
        (root / "usr/bin").mkdir()
        (root / "usr/bin/parachute").symlink_to("../lib/parachute/bin/parachute-cli")
        _compile(root, debian, folder / "debian")
        layer = folder / "program.tar"
        _write_layer(root, layer)
        image = folder / "image.tar"
        archive.write(image, f"{NAME}:{program.VERSION}", (debian, layer), _configuration())
        return image.rename(target / f"parachute-computer_{program.VERSION}_{program.architecture()}.image.tar")


def _configuration() -> dict[str, object]:
    """Configuration with which a container starts; the health check is Docker's, which an image of OCI's own format could not say."""
    python = str(program.INTERPRETER)
    asked = f"import urllib.request as r; r.urlopen('http://127.0.0.1:{PORT}/api/health', timeout=5)"
    return {
        "User": f"{USER_ID}:{USER_ID}",
        "Env": [
            "PATH=/usr/local/bin:/usr/bin:/bin",
            "LANG=C.UTF-8",
            # Folders in the volumes, not the volumes: a restore puts other folders in their place.
            f"HOME={STATE}",
            f"PARACHUTE_HOME={STATE}/.parachute",
            f"PARACHUTE_VAULT={VAULT}/Parachute",
            "PARACHUTE_HOST=0.0.0.0",
            f"PARACHUTE_PORT={PORT}",
            # Of whom a connection is that comes through a container's network, its address does not tell.
            "PARACHUTE_AUTH_MODE=always",
        ],
        "Entrypoint": [python, str(START)],
        "WorkingDir": "/",
        "ExposedPorts": {f"{PORT}/tcp": {}},
        "Volumes": {STATE: {}, VAULT: {}},
        "StopSignal": "SIGTERM",
        "Healthcheck": {
            "Test": ["CMD", python, "-ISc", asked],
            "Interval": 30 * 10**9,
            "Timeout": 10 * 10**9,
            "StartPeriod": 60 * 10**9,
            "Retries": 3,
        },
        "Labels": {
            "org.opencontainers.image.title": "Parachute Computer",
            "org.opencontainers.image.version": program.VERSION,
            "org.opencontainers.image.licenses": "AGPL-3.0-or-later AND LicenseRef-Claude-Code",
        },
    }


def _compile(root: Path, debian: Path, place: Path) -> None:
    """Compile for the Python of the image: a container cannot write there, and each process would do it again."""
    place.mkdir()
    # What belongs to the program alone is taken from the layer, since this machine may have another Python.
    subprocess.run(["tar", "--extract", f"--file={debian}", f"--directory={place}", "./usr"], check=True)
    inside = str(program.FOLDER)
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--bind", str(place / "usr"), "/usr"]
    command += ["--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"]
    command += ["--bind", str(root / inside.lstrip("/")), inside, "--proc", "/proc", "--dev", "/dev"]
    # Nobody changes these any more: no source is read to see whether it is the compiled one.
    compiling = (f"/usr/bin/python{program.PYTHON}", "-m", "compileall", "-q", "-j", "0")
    subprocess.run(
        [*command, "--", *compiling, "--invalidation-mode", "unchecked-hash", inside],
        check=True,
        stdin=subprocess.DEVNULL,
    )


def _write_layer(root: Path, layer: Path) -> None:
    def owned(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mtime = recipe.EPOCH
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
        return entry

    with (
        layer.open("wb") as file,
        io.BufferedWriter(file, 1 << 20) as buffered,
        tarfile.open(fileobj=buffered, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in sorted(root.iterdir()):
            tar.add(path, path.name, filter=owned)
