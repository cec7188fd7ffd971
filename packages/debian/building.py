"""The build of the package, with dpkg-deb alone: no package of Debian is needed for it that is not on every Debian."""

import gzip
import hashlib
import os
import shutil
import subprocess
import tempfile
from email.utils import formatdate
from pathlib import Path

from packages import program
from packages.debian.units import units

NAME = "parachute-computer"
REVISION = "1"
MAINTAINER = "Parachute Computer <maintainers@parachute.invalid>"
FILES = Path(__file__).parent / "files"
SCRIPTS = ("preinst", "postinst", "prerm", "postrm")
CONFFILES = ("/etc/parachute/declared.json",)

_PLACES = {
    "parachute": ("usr/bin/parachute", 0o755),
    "declared.json": ("etc/parachute/declared.json", 0o644),
    "sysusers.conf": (f"usr/lib/sysusers.d/{NAME}.conf", 0o644),
    "tmpfiles.conf": (f"usr/lib/tmpfiles.d/{NAME}.conf", 0o644),
    "README.Debian": (f"usr/share/doc/{NAME}/README.Debian", 0o644),
    "copyright": (f"usr/share/doc/{NAME}/copyright", 0o644),
}
_VALUES = {"FOLDER": str(program.FOLDER), "HOME": str(program.HOME), "USER": program.USER, "PYTHON": program.PYTHON}


def build(target: Path) -> Path:
    """The package in a folder; error: subprocess.CalledProcessError for a step that fails."""
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="package-", dir=target) as made:
        root = Path(made)
        lay_out(root)
        return pack(root, target)


def lay_out(root: Path) -> None:
    """Write all that is installed into an empty folder."""
    program.install(root)
    for name, (path, mode) in _PLACES.items():
        _write(root / path, _filled(name), mode)
    for name, text in units().items():
        _write(root / "usr/lib/systemd/user" / name, text, 0o644)


def pack(root: Path, target: Path, revision: str = REVISION, compression: str = "zstd") -> Path:
    """Make a package of what was laid out; the version is that of the program with the package's own `revision`."""
    version = f"{program.VERSION}-{revision}"
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or _committed())
    _write_compressed(root / f"usr/share/doc/{NAME}/changelog.Debian.gz", _changelog(version, epoch))
    subprocess.run(["chmod", "-R", "u=rwX,go=rX", str(root)], check=True)
    control = root / "DEBIAN"
    shutil.rmtree(control, ignore_errors=True)
    control.mkdir()
    files = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    files = [path for path in files if not path.is_relative_to(control)]
    sizes = sum(path.stat().st_size for path in files)
    _write(control / "control", _control(version, sizes), 0o644)
    _write(control / "md5sums", "".join(f"{_md5(path)}  {path.relative_to(root)}\n" for path in files), 0o644)
    _write(control / "conffiles", "".join(f"{path}\n" for path in CONFFILES), 0o644)
    for name in SCRIPTS:
        _write(control / name, _filled(name), 0o755)
    package = target / f"{NAME}_{version}_{program.architecture()}.deb"
    command = ["dpkg-deb", "--root-owner-group", f"-Z{compression}", "--build", str(root), str(package)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch)})
    return package


def _filled(name: str) -> str:
    text = (FILES / name).read_text()
    for word, value in _VALUES.items():
        text = text.replace(f"@{word}@", value)
    return text


def _control(version: str, sizes: int) -> str:
    fields = {"VERSION": version, "ARCHITECTURE": program.architecture(), "MAINTAINER": MAINTAINER}
    fields |= {"SIZE": str(sizes // 1024), "DESCRIPTION": program.PROJECT["description"]}
    text = _filled("control")
    for word, value in fields.items():
        text = text.replace(f"@{word}@", value)
    return text


def _changelog(version: str, epoch: int) -> str:
    when = formatdate(epoch, usegmt=False)
    return f"{NAME} ({version}) {program.SUITE}; urgency=medium\n\n  * The history of the repository tells.\n\n -- {MAINTAINER}  {when}\n"


def _committed() -> str:
    said = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=program.TREE, capture_output=True, text=True, check=False
    )
    return said.stdout.strip() or "0"


def _write(path: Path, text: str, mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def _write_compressed(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def _md5(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "md5").hexdigest()
