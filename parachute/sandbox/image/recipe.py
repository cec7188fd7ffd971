"""The recipe of the image: its packages and steps, and the commands that make its root."""

import hashlib
import os
import re
import zlib
from collections.abc import Sequence
from pathlib import Path

from parachute.base.errors import InvalidInput
from parachute.sandbox.image.contents import debian_packages
from parachute.sandbox.layout import HOME, image_files, image_folders, image_memory

NAME = "localhost/parachute-sandbox"
LABEL = "org.parachute.recipe"
MARK = "/etc/parachute-recipe"
"""A file of the image that says which recipe it was built from; a tarball of unknown origin has another one, or none."""

DATABASE = "/var/lib/dpkg/status"
_DATABASE_LIMIT = 16 << 20
_MARK = re.compile(r"[a-z0-9]{1,40}")

SUITE = "trixie"
PACKAGES = debian_packages()
EPOCH = 1_767_225_600
"""Seconds; the time of every file, so that two builds of the same packages give the same image."""

# Debian's npm depends on packages that depend on tools for building web pages. npm loads none of these, which are half of all
# files of the image, and each file costs time when an image is imported and its first container starts.
_NOT_OF_NPM = (
    *("@babel", "@types", "@webassemblyjs", "async-es", "browserslist", "caniuse-lite", "core-js", "core-js-pure"),
    *("es-abstract", "eslint", "eslint-scope", "eslint-utils", "eslint-visitor-keys", "lodash-es"),
    *("regenerate-unicode-properties", "terser", "webassemblyjs", "webpack", "webpack-sources"),
)
# Pages for people, and of the compiler a part for looking into its own files that is as large as itself.
_LEFT_OUT = (
    *("/usr/share/doc/*", "/usr/share/info/*", "/usr/share/locale/*", "/usr/share/man/*", "/usr/share/lintian/*"),
    "/usr/bin/*lto-dump*",
)

# Debian compiles Python so that each source is read once more when it is loaded; nobody changes these any more.
# Podman gives a folder in memory the mode of the folder below it. 1777, since only root of a container could own them.
STEPS = (
    "groupadd --gid 1000 agent",
    f"useradd --uid 1000 --gid 1000 --no-create-home --home-dir {HOME} --shell /bin/bash agent",
    f"mkdir -p {' '.join(image_folders())}",
    f"touch {' '.join(image_files())}",
    f"chmod 1777 {' '.join(image_memory())}",
    f"rm -rf {' '.join(f'/usr/share/nodejs/{name}' for name in _NOT_OF_NPM)}",
    "python3 -m compileall -q -f --invalidation-mode unchecked-hash /usr/lib/python3*/",
    "find / -xdev -type f -perm /6000 -exec chmod a-s {} +",
)
EMPTIED = "/var/cache/* /var/lib/apt/lists/* /var/lib/dpkg/*-old /var/log/*"
_SETUP = "\n".join(
    (
        "\nset -eu",
        *STEPS,
        f"rm -rf /etc/hostname /etc/machine-id /etc/resolv.conf {EMPTIED}",
        "rm -f /etc/*- /var/lib/systemd/* 2>/dev/null || true\n",
    )
)

STARTED = (("USER", "1000:1000"), ("WORKDIR", "/"), ("CMD", '["/bin/bash"]'))
"""Defaults for the start of a container."""

_FOREIGN_ENVIRONMENT = (
    "PATH",
    "LANG",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
)


def digest(packages: Sequence[str] = PACKAGES) -> str:
    """Sixteen characters that change with everything that decides what is in an image of these packages."""
    parts = (SUITE, *sorted(packages), *_LEFT_OUT, _SETUP, str(EPOCH))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def is_older(mark: str, packages: Sequence[str] = PACKAGES) -> bool:
    """True if an image with this mark should be built again: those of nixos/sandbox-image.nix come with the system."""
    return mark != digest(packages) and not mark.startswith("nix")


def tag(mark: str) -> str:
    """The name of the image that bears this mark."""
    return f"{NAME}:{mark}"


def read_root(tarball: Path) -> tuple[str, str]:
    """The mark in a root, and the text of dpkg's database; error: InvalidInput for what is no root of ours. Waits.

    The mark is the digest of its recipe, or another word.
    """
    # Only for a root that was built elsewhere.
    import lzma
    import tarfile

    found: dict[str, str] = {}
    try:
        with tarfile.open(tarball) as root:
            for member in root:
                name = f"/{member.name.removeprefix('./')}"
                if name in (MARK, DATABASE) and (file := root.extractfile(member)):
                    found[name] = file.read(_DATABASE_LIMIT).decode(errors="replace")
                if len(found) == 2:
                    break
    except (OSError, tarfile.TarError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise InvalidInput(f"{tarball} cannot be read as a tarball: {error}.", key="unreadable") from error
    mark = found.get(MARK, "").strip()
    if _MARK.fullmatch(mark):
        return mark, found.get(DATABASE, "")
    raise InvalidInput(
        f"{tarball} is not the root of an image for agents: it has no {MARK}.",
        "`parachute sandbox build --to-tar FILE` makes one, also on another machine.",
        key="no_image",
    )


def root_command(tarball: Path, packages: Sequence[str] = PACKAGES) -> list[str]:
    """The command line that writes the image's root into a tarball, as an ordinary user or as root."""
    mark = f"echo {digest(packages)} > {MARK}"
    is_root = os.geteuid() == 0
    return [
        # Root's would mount /proc, /sys and /dev/shm of this machine where everybody sees them, and leave them when it is killed.
        *(("unshare", "--mount", "--") if is_root else ()),
        "mmdebstrap",
        f"--mode={'root' if is_root else 'unshare'}",
        "--variant=minbase",
        "--format=tar",
        f"--include={','.join(packages)}",
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in _LEFT_OUT),
        # The licences stay with what they belong to.
        "--dpkgopt=path-include=/usr/share/doc/*/copyright",
        f"--customize-hook=chroot \"$1\" sh -c '{_SETUP}{mark}'",
        SUITE,
        str(tarball),
    ]


def root_environment(folder: Path) -> dict[str, str]:
    """The environment of `root_command`; what it puts aside goes into `folder`."""
    taken = {name: os.environ[name] for name in _FOREIGN_ENVIRONMENT if name in os.environ}
    path = f"{taken.pop('PATH', '/usr/bin:/bin')}:/usr/sbin:/sbin"
    return {
        **taken,
        "PATH": path,
        "HOME": str(Path.home()),
        "TMPDIR": str(folder),
        "SOURCE_DATE_EPOCH": str(EPOCH),
    }


def import_command(tarball: Path, mark: str) -> list[str]:
    """The command line that makes an image of a root; its last line of output is the image's id."""
    changes = (*(f"{name}={value}" for name, value in STARTED), f"LABEL={LABEL}={mark}")
    return ["podman", "import", "--quiet", *(f"--change={change}" for change in changes), str(tarball)]
