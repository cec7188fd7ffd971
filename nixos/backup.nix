# Backups with restic, and a drill that restores the newest one and compares it.
{ config, lib, pkgs, ... }:
let
  cfg = config.services.parachute;
  backup = cfg.backup;

  place = lib.types.strMatching "(local:)?/.+|(sftp|rest|s3|b2|azure|gs|swift|rclone):.+" // {
    description = "absolute path or address of restic";
  };

  inStore = file: file != null && (builtins.isPath file || lib.hasPrefix builtins.storeDir file);
  secret = option: {
    assertion = !(inStore backup.${option});
    message = ''
      services.parachute.backup.${option}: the Nix store can be read by everybody. Write the name of a file outside of it, in
      quotes, such as "/run/secrets/parachute-backup".
    '';
  };

  service = description: subcommand: {
    description = "Parachute: ${description}";
    unitConfig.ConditionUser = cfg.user;
    # One that is being made while the configuration changes goes on.
    restartIfChanged = false;
    environment.PARACHUTE_HOME = cfg.trust;
    path = [ pkgs.restic ] ++ cfg.programs;
    serviceConfig = {
      Type = "oneshot";
      ExecStart = cfg.command [ "-m" "parachute.cli" "backup" subcommand ];
      # Python imports from the folder it is started in, which would be the home.
      WorkingDirectory = "/";
      # A first backup to a slow place takes hours.
      TimeoutStartSec = "infinity";
      # It is asked first: it ends restic, and removes what it has copied.
      KillMode = "mixed";
      TimeoutStopSec = 30;
      # Whoever works at the computer meanwhile should not notice.
      Nice = 10;
      IOSchedulingClass = "idle";
      # No program can give it more rights than it has.
      NoNewPrivileges = true;
      LockPersonality = true;
      RestrictRealtime = true;
      # The way to a remote repository and to the supervisor; a drill has a network of its own (netlink).
      RestrictAddressFamilies = "AF_UNIX AF_INET AF_INET6 AF_NETLINK";
      SystemCallArchitectures = "native";
      # Copies of databases are for the owner only.
      UMask = "0077";
      # A dump of memory could hold keys.
      LimitCORE = 0;
      # Where `parachute logs` looks.
      StandardOutput = "append:${cfg.trust}/logs/backup.log";
      StandardError = "inherit";
    }
    // lib.optionalAttrs (subcommand == "create") {
      # It refuses openat2(2), which bubblewrap cannot do without: a drill starts the computer in its namespaces.
      RestrictSUIDSGID = true;
    };
  };

  timer = description: calendar: {
    description = "Parachute: ${description}";
    wantedBy = [ "timers.target" ];
    unitConfig.ConditionUser = cfg.user;
    timerConfig = {
      OnCalendar = calendar;
      # A computer that was off then catches up.
      Persistent = true;
      # Not all computers of a house at the same second.
      RandomizedDelaySec = backup.randomizedDelay;
    };
  };
in
{
  options.services.parachute.backup = {
    enable = lib.mkEnableOption "backups of the vault and, apart from it, of what is trusted";

    repository = lib.mkOption {
      type = lib.types.nullOr place;
      default = null;
      example = "sftp:backup@nas.local:/parachute";
      description = "Where backups go: a folder on another disk, or anything else that restic takes.";
    };

    passwordFile = lib.mkOption {
      type = lib.types.nullOr lib.types.path;
      default = null;
      example = "/run/secrets/parachute-backup";
      description = ''
        A file with the password of the repository, which the user can read. Keep a copy elsewhere: without it a backup is lost.
      '';
    };

    environmentFile = lib.mkOption {
      type = lib.types.nullOr lib.types.path;
      default = null;
      example = "/run/secrets/parachute-backup-environment";
      description = "A file with lines such as `AWS_ACCESS_KEY_ID=…`, which a remote repository needs and the user can read.";
    };

    schedule = lib.mkOption {
      type = lib.types.nonEmptyStr;
      default = "03:30";
      example = "Mon..Fri 04:00";
      description = "When backups are made, as `OnCalendar` of systemd.time(7). Not in the hour that clocks leave out in spring: systemd makes none on that day.";
    };

    randomizedDelay = lib.mkOption {
      type = lib.types.nonEmptyStr;
      default = "5min";
      example = "2h";
      description = "Up to how much later they begin, so that not all computers of a house come at once.";
    };

    drill = {
      enable = lib.mkOption {
        type = lib.types.bool;
        default = true;
        example = false;
        description = "Whether the newest backup is restored into a temporary folder from time to time, compared, and the computer started from it.";
      };

      schedule = lib.mkOption {
        type = lib.types.nonEmptyStr;
        default = "*-*-01 04:30";
        example = "Sun 05:00";
        description = "When that is done, as `OnCalendar` of systemd.time(7).";
      };
    };
  };

  config = lib.mkIf (cfg.enable && backup.enable) {
    assertions = [
      {
        assertion = backup.repository != null;
        message = ''
          services.parachute.backup.repository: a backup needs a place. Write a folder on another disk, such as "/mnt/usb/parachute", or
          any other repository that restic takes.
        '';
      }
      {
        assertion = backup.passwordFile != null;
        message = ''
          services.parachute.backup.passwordFile: backups are encrypted. Write the name of a file with the password, such as
          "/run/secrets/parachute-backup", which the user "${cfg.user}" can read.
        '';
      }
      (secret "passwordFile")
      (secret "environmentFile")
    ];

    services.parachute.declared.settings.backup = lib.mkIf (backup.repository != null && backup.passwordFile != null) ({
      inherit (backup) repository;
      password_file = toString backup.passwordFile;
    } // lib.optionalAttrs (backup.environmentFile != null) {
      environment_file = toString backup.environmentFile;
    });

    services.parachute.units.services.parachute-backup = service "a backup" "create";
    services.parachute.units.timers.parachute-backup = timer "a backup each day" backup.schedule;

    services.parachute.units.services.parachute-backup-drill = lib.mkIf backup.drill.enable (
      # Not while one is being made.
      service "whether the newest backup can be restored" "drill" // { after = [ "parachute-backup.service" ]; }
    );
    services.parachute.units.timers.parachute-backup-drill = lib.mkIf backup.drill.enable (timer "a drill of the backup" backup.drill.schedule);
  };
}
