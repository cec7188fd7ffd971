# A new generation has three tries: unless Parachute answers in one of them, the machine boots the generation before.
#
# nixpkgs has the option that counts since 26.11. With an older one nothing is counted, and a warning says so.
{
  config,
  lib,
  options,
  pkgs,
  ...
}:
let
  counts = options.boot.loader.systemd-boot ? bootCounting;
  # systemd-boot sets it for an entry whose tries are counted, and only for such.
  counted = "/sys/firmware/efi/efivars/LoaderBootCountPath-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f";
in
{
  config =
    if counts then
      {
        boot.loader.systemd-boot.bootCounting = {
          enable = true;
          tries = 3;
        };

        # A boot is good when everything before boot-complete.target has succeeded.
        systemd.services.parachute-boot-check = {
          description = "Whether Parachute answers after this boot";
          requiredBy = [ "boot-complete.target" ];
          before = [ "boot-complete.target" ];
          after = [ "multi-user.target" ];
          # That is asked once, and not of a configuration that a machine is switched to.
          restartIfChanged = false;
          unitConfig = {
            # Only a generation that is on trial is given up: a good one stays up for whoever looks into it.
            ConditionPathExists = counted;
            FailureAction = "reboot";
          };
          serviceConfig = {
            Type = "oneshot";
            RemainAfterExit = true;
            ExecStart = "${lib.getExe pkgs.curl} --silent --show-error --fail --max-time 5 --retry 100 --retry-delay 3 --retry-all-errors --output /dev/null ${config.services.parachute.localUrl}/api/health";
            TimeoutStartSec = "10min";
            DynamicUser = true;
            # It asks the server once, and nothing else.
            ProtectHome = true;
            PrivateDevices = true;
            ProtectKernelTunables = true;
            ProtectKernelModules = true;
            ProtectKernelLogs = true;
            ProtectControlGroups = true;
            ProtectClock = true;
            ProtectHostname = true;
            ProtectProc = "invisible";
            CapabilityBoundingSet = "";
            RestrictAddressFamilies = "AF_UNIX AF_INET AF_INET6";
            RestrictNamespaces = true;
            RestrictRealtime = true;
            LockPersonality = true;
            MemoryDenyWriteExecute = true;
            SystemCallArchitectures = "native";
            SystemCallFilter = [ "@system-service" "~@privileged" ];
          };
        };
      }
    else
      {
        warnings = [
          "This nixpkgs has no boot.loader.systemd-boot.bootCounting: after an update that does not boot, choose the generation before in the menu."
        ];
      };
}
