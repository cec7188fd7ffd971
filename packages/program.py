"""The program with all that it needs, as a folder for the Python of a Debian: no network is asked where it is installed."""

import json
import platform
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

TREE = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((TREE / "pyproject.toml").read_text())["project"]
VERSION: str = PROJECT["version"]

SUITE = "trixie"
PYTHON = "3.13"
FOLDER = Path("/usr/lib/parachute")
"""Folder of the installed program."""
INTERPRETER = FOLDER / "bin" / "python3"
USER = "parachute"
HOME = Path("/var/lib/parachute")

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_GLIBC = "2_40"
_COMMAND = f"""#!{INTERPRETER}
import sys
from parachute.cli.main import main
sys.exit(main())
"""


def architecture() -> str:
    """The name that Debian has for this machine; error: SystemExit for one without wheels."""
    machine = platform.machine()
    if machine not in _ARCHITECTURES:
        raise SystemExit(f"There is no package for {machine}: expected one of {', '.join(_ARCHITECTURES)}.")
    return _ARCHITECTURES[machine]


def install(root: Path) -> None:
    """Write the program into the root folder of a package or an image."""
    place = root / FOLDER.relative_to("/")
    packages = place / "lib" / f"python{PYTHON}" / "site-packages"
    packages.mkdir(parents=True)
    (place / "bin").mkdir()
    (place / "bin" / "python").symlink_to(f"/usr/bin/python{PYTHON}")
    (place / "bin" / "python3").symlink_to("python")
    (place / "pyvenv.cfg").write_text(f"home = /usr/bin\nversion = {PYTHON}\n")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "requirements.txt").write_text(
            requirements((TREE / "requirements" / "run.txt").read_text(), needed())
        )
        # This machine may have another Python: nothing is compiled for it here.
        into = ["--only-binary", ":all:", "--target", str(packages), "--python-version", PYTHON]
        into += ["--python-platform", f"{platform.machine()}-manylinux_{_GLIBC}"]
        _pip("--require-hashes", "-r", str(folder / "requirements.txt"), *into)
        _pip(str(wheel(folder)), *into)
    # Scripts that name the interpreter of this machine; where the wheel lay, and when.
    for left in (packages / "bin", packages / ".lock"):
        subprocess.run(["rm", "-rf", str(left)], check=True)
    for name in ("direct_url.json", "uv_cache.json"):
        for file in packages.glob(f"*.dist-info/{name}"):
            record = file.with_name("RECORD")
            lines = record.read_text().splitlines(keepends=True)
            record.write_text("".join(line for line in lines if not line.startswith(f"{file.parent.name}/{name},")))
            file.unlink()
    # Another name than the one to type: what is printed then names that one, and not this path.
    command = place / "bin" / "parachute-cli"
    command.write_text(_COMMAND)
    command.chmod(0o755)


def wheel(folder: Path) -> Path:
    """Build the wheel into a folder, as `make wheel` does."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder.absolute())]
    subprocess.run(command, cwd=TREE, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    (built,) = folder.glob("*.whl")
    return built


def needed() -> set[str]:
    """Names of the packages that the program needs here: those of the Nix package, without what builds wheels."""
    listed = json.loads((TREE / "nixos" / "python" / "wheels.json").read_text())
    return {name for name, wheels in listed.items() if f"{platform.machine()}-linux" in wheels}


def requirements(locked: str, names: set[str]) -> str:
    """The part of locked requirements with these names; error: KeyError for one that is not locked."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in locked.splitlines():
        if line and not line.startswith((" ", "#")):
            lines = found.setdefault(line.partition("==")[0].strip(), [])
        lines.append(line)
    return "".join(f"{line}\n" for name in sorted(names) for line in found[name])


def _pip(*arguments: str) -> None:
    command = [
        sys.executable,
        "-m",
        "uv",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-config",
        "--link-mode",
        "copy",
    ]
    subprocess.run([*command, *arguments], check=True, stdin=subprocess.DEVNULL)
