# What the two processes that are always there may not do; each line does something in a user's manager, and is one that
# parachute/supervisor/systemd/hardening.py writes as well.
let
  shared = {
    # Without a user namespace of its own a user's service has no other namespace: where there can be none, it does not start.
    PrivateUsers = true;
    # Root's rights are not to be had in it, in no namespace.
    CapabilityBoundingSet = "";
    # No program can give it more rights than it has, by setuid or otherwise.
    NoNewPrivileges = true;
    RestrictSUIDSGID = true;
    # No further namespaces: most ways out of a confinement of the last years began with one.
    RestrictNamespaces = true;
    # Only null, random and the like.
    PrivateDevices = true;
    # Memory and queues that programs of the user share by number.
    PrivateIPC = true;
    # The kernel's settings and control groups can be read, not written.
    ProtectKernelTunables = true;
    ProtectControlGroups = true;
    # Its messages and modules cannot even be read.
    ProtectKernelLogs = true;
    ProtectKernelModules = true;
    # The clock is refused to it, instead of ending it.
    ProtectClock = true;
    SystemCallFilter = [
      # Calls that ordinary services make; the others end it.
      "@system-service"
      # Of these, what is root's business is refused.
      "~@privileged:EPERM"
      # So are keys that the kernel keeps for all programs of the user.
      "~@keyring:EPERM"
    ];
    # The keys of a login are not its own.
    KeyringMode = "private";
    # A program for another kind of machine reaches calls of the kernel that nobody looks at.
    SystemCallArchitectures = "native";
    LockPersonality = true;
    # It has no reason to come before everything else.
    RestrictRealtime = true;
    # Files that it makes are for their owner only.
    UMask = "0077";
    # What it has written it cannot run from memory.
    MemoryDenyWriteExecute = true;
    # A dump of memory could hold keys.
    LimitCORE = 0;
  };
in
{
  # It starts programs only through a unit of their own: what it starts itself would be held back as well.
  core = shared // {
    # The vault and project folders may be anywhere: what is the system's cannot be written, the rest is as for its user.
    ProtectSystem = "full";
    # It serves the network, and asks for this computer's addresses.
    RestrictAddressFamilies = "AF_UNIX AF_INET AF_INET6 AF_NETLINK";
  };

  # Its units are not its own children; `trust` is the folder of trust.
  supervisor = trust: shared // {
    # It writes what it does and knows, and the units of the user manager; all else can only be read.
    ProtectSystem = "strict";
    ProtectHome = "read-only";
    ReadWritePaths = [
      ''"${trust}"''
      "%t"
    ];
    # D-Bus and its own sockets, and the web address of its status.
    RestrictAddressFamilies = "AF_UNIX AF_INET AF_INET6";
  };
}
