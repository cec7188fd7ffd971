# The first boot of an image: its address, and a key to begin with, on the screen of the machine.
{ config, lib, pkgs, ... }:
let
  cfg = config.services.parachute;
in
{
  options.services.parachute.firstBoot.enable = lib.mkOption {
    type = lib.types.bool;
    default = false;
    example = true;
    description = ''
      Whether the machine's screen shows the address, and a key, until the computer has been set up. It takes the
      first terminal, on which nobody can log in then; the others stay as they are.
    '';
  };

  config = lib.mkIf (cfg.enable && cfg.firstBoot.enable) {
    # They would clear the screen.
    systemd.services."getty@tty1".enable = false;
    systemd.services."autovt@tty1".enable = false;

    systemd.services.parachute-first-boot = {
      description = "Parachute: address and key on the screen";
      wantedBy = [ "multi-user.target" ];
      wants = [ "network-online.target" ];
      after = [ "network-online.target" "linger-users.service" "systemd-user-sessions.service" ];
      # A new configuration must not make a new key.
      restartIfChanged = false;
      path = [ cfg.package pkgs.curl pkgs.util-linux pkgs.coreutils ];
      script = ''
        # The socket holds the connection until core serves.
        curl --silent --show-error --fail --output /dev/null --retry 120 --retry-delay 1 --retry-all-errors \
          ${cfg.localUrl}/api/health
        user=${lib.escapeShellArg cfg.user}
        # Nothing but these terminals gets to see the key: neither a file nor the journal.
        screen=$(runuser -u "$user" -- env HOME=${lib.escapeShellArg config.users.users.${cfg.user}.home} \
          PARACHUTE_HOME=${lib.escapeShellArg cfg.trust} XDG_RUNTIME_DIR="/run/user/$(id -u "$user")" \
          parachute first-boot --console)
        # tty0 stands for whichever is on the screen.
        { echo tty1; tr ' ' '\n' < /sys/class/tty/console/active; } | sed 's/^tty0$/tty1/' | sort -u | while read -r terminal; do
          if [ -w "/dev/$terminal" ]; then
            # White on black, whatever the terminal has: not every camera reads the opposite.
            printf '\033c\033[97;40m%s\033[0m\n' "$screen" > "/dev/$terminal" || true
          fi
        done
      '';
      serviceConfig = {
        # The boot does not wait for it.
        Type = "exec";
        # It has shown what there is: not again before the next boot.
        RemainAfterExit = true;
        StandardInput = "null";
        # The key is on terminals only; errors are none of the command's output.
        StandardOutput = "null";
        StandardError = "journal";

        # It asks the server, becomes the user, and writes to terminals.
        ProtectSystem = "full";
        PrivateTmp = true;
        ProtectKernelTunables = true;
        ProtectKernelModules = true;
        ProtectKernelLogs = true;
        ProtectControlGroups = true;
        ProtectClock = true;
        ProtectHostname = true;
        # The last one tells this machine's addresses, which the screen shows.
        RestrictAddressFamilies = "AF_UNIX AF_INET AF_INET6 AF_NETLINK";
        RestrictNamespaces = true;
        RestrictRealtime = true;
        RestrictSUIDSGID = true;
        LockPersonality = true;
        MemoryDenyWriteExecute = true;
        SystemCallArchitectures = "native";
      };
    };
  };
}
