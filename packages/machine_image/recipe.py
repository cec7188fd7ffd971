"""The recipe of the disk: its packages, its partitions, and what is said to the kernel."""

import os
from pathlib import Path

from packages import program
from parachute.sandbox.image import recipe

FOLDER = Path(__file__).parent
BOARDS = ("pc",)
EPOCH = recipe.EPOCH
ADDRESS = "0.0.0.0"  # noqa: S104 - other devices need a key

ROOT, BOOT = "8a3e6b54-0c0b-4bb5-9d1c-1f3c0a1c7c01", "8a3e6b54-0c0b-4bb5-9d1c-1f3c0a1c7c02"
"""The numbers of the partitions; the same in each image, so that two builds are one."""
SEED = "8a3e6b54-0c0b-4bb5-9d1c-1f3c0a1c7c00"

COMPONENTS = ("main", "non-free-firmware")
PACKAGES = (
    "amd64-microcode",
    "avahi-daemon",
    "bubblewrap",
    "ca-certificates",
    "curl",
    "dbus-user-session",
    "dosfstools",
    "e2fsprogs",
    "firmware-realtek",  # the network of most small PCs
    "git",
    "init-system-helpers",
    "initramfs-tools",
    "intel-microcode",
    "iproute2",
    "libgomp1",
    "libpam-systemd",
    "linux-image-amd64",
    "mtools",
    "nftables",
    "openssh-server",
    "procps",
    "python3",
    "restic",
    "systemd-boot",
    "systemd-repart",
    "systemd-resolved",
    "systemd-sysv",
    "systemd-timesyncd",
    "systemd-zram-generator",
    "tzdata",
    "unattended-upgrades",
    "zstd",
)
LEFT_OUT = ("/usr/share/doc/*", "/usr/share/info/*", "/usr/share/locale/*", "/usr/share/man/*", "/usr/share/lintian/*")
HASTE = "force-unsafe-io"

# What the kernel says would run over the key on the screen. One that stops starts again, since nobody is there to do it.
KERNEL = f"root=PARTUUID={ROOT} rw rootflags=noatime console=ttyS0,115200 console=tty0 quiet loglevel=4 panic=10"

INSTALL = """
set -eu
apt-get install --yes --quiet --no-install-recommends /package.deb
rm /package.deb
"""
# The loader is put where each firmware looks, and no variable of this machine's firmware is written.
SETUP = f"""
set -eu
export SYSTEMD_RELAX_ESP_CHECKS=1
# It has to be a file system of its own, as it is in the machine: paths in its entries begin there.
mount -t tmpfs -o mode=0755 tmpfs /efi
echo "{KERNEL}" > /etc/kernel/cmdline
bootctl install --quiet --esp-path=/efi --no-variables --random-seed=no --entry-token=literal:debian
for kernel in /boot/vmlinuz-*; do
  kernel-install --esp-path=/efi --entry-token=literal:debian --make-entry-directory=yes \
    add "${{kernel#/boot/vmlinuz-}}" "$kernel" "/boot/initrd.img-${{kernel#/boot/vmlinuz-}}"
done
cp -a /efi /made
umount /efi
cp -a --update=none /made/. /efi
rm -r /made
chown -R {program.USER}:{program.USER} {program.HOME}
chmod 0700 {program.HOME} {program.HOME}/.config
systemctl enable --quiet nftables systemd-networkd systemd-resolved systemd-timesyncd parachute-first-boot
systemctl mask --quiet getty@tty1 autovt@tty1 serial-getty@ttyS0
# It would listen for ssh at sockets of its own.
mkdir -p /etc/systemd/system-generators
ln -s /dev/null /etc/systemd/system-generators/systemd-ssh-generator
ln -sf ../run/systemd/resolve/stub-resolv.conf /etc/resolv.conf
usermod --password "!" root
# Two machines of one image have nothing in common: these are made at the first boot.
: > /etc/machine-id
rm -f /etc/ssh/ssh_host_* /var/lib/systemd/random-seed /efi/loader/random-seed /var/lib/dbus/machine-id
rm -rf /var/lib/apt/lists/* /etc/apt/preferences.d/locked {recipe.EMPTIED} /var/tmp/* /tmp/*
sed -i /{HASTE}/d /etc/dpkg/dpkg.cfg.d/99mmdebstrap
rm -f /etc/*- /var/lib/dpkg/*-old
"""


def environment(folder: Path) -> dict[str, str]:
    """The environment of each step: its times are fixed, and what it puts aside goes into `folder`."""
    return recipe.root_environment(folder) | {"SOURCE_DATE_EPOCH": str(EPOCH), "LC_ALL": "C.UTF-8"}


def fix_times() -> None:
    """Let what is built in this process, the package of Debian, have the time of the recipe."""
    os.environ["SOURCE_DATE_EPOCH"] = str(EPOCH)
