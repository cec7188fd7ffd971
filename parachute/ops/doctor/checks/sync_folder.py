"""Synchronised folders: programs that copy files between machines damage databases and carry secrets away."""

from pathlib import Path

from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, Result, check, ok, problem, settings_of

_LIMIT = 1024 * 1024

_NAMES = {
    "Dropbox": "Dropbox",
    "OneDrive": "OneDrive",
    "Nextcloud": "Nextcloud",
    "ownCloud": "ownCloud",
    "Google Drive": "Google Drive",
    "GoogleDrive": "Google Drive",
    "iCloud Drive": "iCloud",
    "iCloudDrive": "iCloud",
    "Mobile Documents": "iCloud",
    "com~apple~CloudDocs": "iCloud",
    "CloudStorage": "a cloud drive of macOS",
    "pCloudDrive": "pCloud",
    "MEGA": "MEGA",
}
_BEGINNINGS = {"OneDrive - ": "OneDrive", "Dropbox (": "Dropbox"}
_MARKS = {
    ".dropbox": "Dropbox",
    ".dropbox.cache": "Dropbox",
    ".stfolder": "Syncthing",
    ".sync/ID": "Resilio Sync",
    ".nextcloudsync.log": "Nextcloud",
    ".owncloudsync.log": "ownCloud",
    ".sync_*.db": "Nextcloud",
    "._sync_*.db": "ownCloud",
    ".SeaDriveCache": "Seafile",
    ".megasync": "MEGA",
}


@check("Synchronised folders", Group.DATA)
def examine(computer: Computer) -> Result:
    if name := _program(computer.home.root, ignores=False):
        return problem(
            f"{name} copies the state directory {computer.home.root} to other machines, with keys and credentials.",
            "Move it out of there: stop the computer, move the folder, and set PARACHUTE_HOME.",
        )
    settings = settings_of(computer, "the vault")
    vault = settings.vault
    if name := _program(vault, ignores=True):
        leave_out = "write a line `.parachute` into .stignore next to .stfolder" if name == "Syncthing" else None
        move = "move the vault out of there (`parachute vault set PATH`) and keep copies with a backup"
        return problem(
            f"{name} copies the vault {vault} while it is written, which damages its databases.",
            f"Either {leave_out}, or {move}." if leave_out else f"Leave its folder .parachute out, or {move}.",
        )
    return ok("No program for synchronising was found around the vault.")


def _program(path: Path, *, ignores: bool) -> str | None:
    """The program whose folder this is in; with `ignores`, Syncthing may leave the databases out."""
    real = path.resolve()
    for folder in (real, *real.parents):
        if found := _NAMES.get(folder.name):
            return found
        for beginning, found in _BEGINNINGS.items():
            if folder.name.startswith(beginning):
                return found
        for mark, found in _MARKS.items():
            if any(folder.glob(mark)) and not (ignores and found == "Syncthing" and _is_left_out(folder, real)):
                return found
    return None


def _is_left_out(folder: Path, vault: Path) -> bool:
    try:
        with Folder.open(folder) as opened:
            lines = opened.read(".stignore", _LIMIT).decode(errors="replace").splitlines()
    except (OSError, InvalidInput):
        return False
    inside = (vault / ".parachute").relative_to(folder)
    # Options such as (?d) stand before the pattern; one with a slash in front counts from Syncthing's folder.
    patterns = {line.strip().rpartition(")")[2].rstrip("/") for line in lines}
    return bool(patterns & {".parachute", f"/{inside}", str(inside)})
