"""The link in ~/.local/bin that shells find."""

from pathlib import Path

from parachute.ops.updates.models import Version


def repoint(old: Version, current: Path) -> None:
    """Let a link to the old version's program lead to the one that is started from now on; others stay. Error: OSError."""
    link = Path.home() / ".local" / "bin" / "parachute"
    wanted = current / "bin" / "parachute"
    if not link.is_symlink() or link.readlink() == wanted or link.resolve().parent != old.prefix / "bin":
        return
    new = link.with_name(".parachute.new")
    new.unlink(missing_ok=True)
    new.symlink_to(wanted)
    new.replace(link)
