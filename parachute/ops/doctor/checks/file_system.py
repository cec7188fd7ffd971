"""File systems of the vault and the state directory: databases and permissions work on them."""

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, NotApplicable, Result, check, ok, problem
from parachute.ops.doctor.mounts import mount_of, places

_NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "ceph", "9p", "davfs", "glusterfs"})
_NETWORK_PROGRAMS = (
    "fuse.sshfs",
    "fuse.rclone",
    "fuse.davfs",
    "fuse.s3fs",
    "fuse.gvfsd",
    "fuse.glusterfs",
    "fuse.curlftpfs",
)
_WITHOUT_RIGHTS = frozenset({"vfat", "msdos", "exfat", "fuseblk", "ntfs", "ntfs3"})
_MEMORY = frozenset({"tmpfs", "ramfs"})


@check("File system", Group.MACHINE)
def examine(computer: Computer) -> Result:
    for name, path in places(computer).items():
        mount = mount_of(computer, path)
        if mount is None:
            raise NotApplicable("The mounts cannot be read on this system.")
        where = f"The {name} {path} lies on {mount.kind} ({mount.place})"
        move = "Move it to a disk of this machine with ext4, btrfs, xfs or zfs" + (
            ", and name the new place: `parachute vault set PATH`." if name == "vault" else "."
        )
        if mount.kind in _NETWORK or mount.kind.startswith(_NETWORK_PROGRAMS):
            return problem(f"{where}, a drive in the network, on which databases are damaged sooner or later.", move)
        if mount.kind in _WITHOUT_RIGHTS:
            return problem(f"{where}, which knows no rights: every user of this machine could read it.", move)
        if mount.kind in _MEMORY:
            return problem(f"{where}, which is in memory and gone when the machine is switched off.", move)
    return ok("The vault and the state directory are on disks of this machine.")
