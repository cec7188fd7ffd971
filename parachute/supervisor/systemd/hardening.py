"""Hardening of the units of the server, the supervisor and modules, as lines of a unit; each does something in a user manager.

Left out is what only root's manager enforces, though `systemd-analyze security` would count it: addresses (IPAddressDeny),
ProtectProc and ProcSubset where there are no own process numbers, devices by their number.
"""

SHARED = (
    "# Without a user namespace of its own a user's service has no other namespace: where there can be none, it does not start.",
    "PrivateUsers=yes",
    "# Root's rights are not to be had in it, in no namespace.",
    "CapabilityBoundingSet=",
    "# No program can give it more rights than it has, by setuid or otherwise.",
    "NoNewPrivileges=yes",
    "RestrictSUIDSGID=yes",
    "# No further namespaces: most ways out of a confinement of the last years began with one.",
    "RestrictNamespaces=yes",
    "# Only null, random and the like.",
    "PrivateDevices=yes",
    "# Memory and queues that programs of the user share by number.",
    "PrivateIPC=yes",
    "# The kernel's settings and control groups can be read, not written; its messages and modules not even that.",
    "ProtectKernelTunables=yes",
    "ProtectControlGroups=yes",
    "ProtectKernelLogs=yes",
    "ProtectKernelModules=yes",
    "# The clock is refused to it, instead of ending it.",
    "ProtectClock=yes",
    "# Calls that ordinary services make; the others end it.",
    "SystemCallFilter=@system-service",
    "# Of these, what is root's business, and keys that the kernel keeps for all programs of the user, are refused.",
    "SystemCallFilter=~@privileged:EPERM",
    "SystemCallFilter=~@keyring:EPERM",
    "KeyringMode=private",
    "SystemCallArchitectures=native",
    "LockPersonality=yes",
    "RestrictRealtime=yes",
    "# Files that it makes are for their owner only.",
    "UMask=0077",
)
CODE = ("# What it has written it cannot run from memory.", "MemoryDenyWriteExecute=yes")


WITHOUT_NAMESPACES = (
    "# There can be no user namespace here, without which systemd holds a user's service back by these alone.",
    "NoNewPrivileges=yes",
    "RestrictSUIDSGID=yes",
    "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6",
    "SystemCallFilter=@system-service",
    "SystemCallArchitectures=native",
    "LockPersonality=yes",
    "RestrictRealtime=yes",
    *CODE,
)
"""For the supervisor where `SHARED` cannot be had; core then starts its programs itself, and is not held back at all."""


def of_core() -> list[str]:
    """For core, which starts programs only through the unit `programs`: what it starts itself would be held back as well."""
    return [
        "# The vault and project folders may be anywhere: what is the system's cannot be written, the rest is as for its user.",
        "ProtectSystem=full",
        "# It serves the network, and asks for this computer's addresses.",
        "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
        *SHARED,
        *CODE,
    ]


def of_supervisor(folder: str) -> list[str]:
    """For the supervisor, whose units are not its own children; `folder` is the state directory as a unit names it."""
    return [
        "# It writes what it does and knows, and the units of the user manager; all else can only be read.",
        "ProtectSystem=strict",
        "ProtectHome=read-only",
        f'ReadWritePaths="{folder}"',
        "ReadWritePaths=%t",
        "# D-Bus and its own sockets, and the web address of its status.",
        "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6",
        *SHARED,
        *CODE,
    ]
