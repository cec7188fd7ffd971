"""The disk of a root, with the partitions that its own /etc/repart.d has: made without loop devices, by the root's own programs."""

import subprocess
from pathlib import Path

from packages.machine_image import recipe

# The root is what is copied, so its programs run in another one, which is thrown away.
_SCRIPT = """
    set -eu
    mount --make-rprivate /
    find "$1" -newermt "@$SOURCE_DATE_EPOCH" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
    mkdir -p "$2/upper" "$2/work" "$2/tools"
    mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/tools"
    mkdir -p "$2/tools/run/root" "$2/tools/run/disk"
    mount --bind -o ro "$1" "$2/tools/run/root"
    mount --bind "$2" "$2/tools/run/disk"
    mount -t proc proc "$2/tools/proc"
    mount --rbind /dev "$2/tools/dev"
    exec chroot "$2/tools" env TMPDIR=/run/disk SYSTEMD_REPART_MKFS_OPTIONS_EXT4="-m 1 -E hash_seed=$3" systemd-repart --empty=create --size=auto \\
      --offline=yes --dry-run=no --seed="$3" --root=/run/root --definitions=/run/root/etc/repart.d --no-pager /run/disk/disk.raw
"""


def write(root: Path, folder: Path) -> Path:
    """A file with the disk below a folder; error: subprocess.CalledProcessError."""
    folder.mkdir()
    command = ["unshare", "--mount", "sh", "-c", _SCRIPT, "sh", str(root), str(folder), recipe.SEED]
    subprocess.run(
        command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=recipe.environment(folder)
    )
    return folder / "disk.raw"


def pack(disk: Path, target: Path) -> None:
    """Compress it; the same with any number of processors."""
    command = ["zstd", "--quiet", "--force", "-10", "--threads=0", str(disk), "-o", str(target)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
