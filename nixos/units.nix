# The processes that are there at boot: the supervisor, and core with its socket. They are services of the user's own manager, as
# rootless Podman needs it, and are the same that `parachute service install` writes elsewhere; tests/nix compares them. They are
# described as NixOS describes units: system.nix hands them over, home.nix translates them.
{ config, lib, ... }:
let
  cfg = config.services.parachute;
  hardening = import ./hardening.nix;
  logs = "${cfg.trust}/logs";

  # An argument as it arrives: quoted, and without meaning for systemd.
  argument = text: builtins.replaceStrings [ "%" "$" ] [ "%%" "$$" ] (builtins.toJSON text);
  command = arguments: lib.concatMapStringsSep " " argument ([ "${cfg.package.python}/bin/python3" ] ++ arguments);

  # Units of /etc belong to every user's manager: for all but one they do not exist.
  ours.ConditionUser = cfg.user;

  environment.PARACHUTE_HOME = cfg.trust;

  # What the supervisor renders while it runs finds its programs through a drop-in: a path is all that NixOS has to add.
  withPrograms = {
    overrideStrategy = "asDropin";
    path = cfg.programs;
  };

  kind = lib.mkOption {
    type = lib.types.attrsOf (lib.types.attrsOf lib.types.anything);
    internal = true;
    default = { };
    example = { parachute-core.description = "Parachute: core"; };
    description = "Units of this kind, for the user's manager.";
  };
in
{
  options.services.parachute = {
    trust = lib.mkOption {
      type = lib.types.str;
      internal = true;
      example = "/home/parachute/.parachute";
      description = "The folder with keys, approvals and credentials.";
    };

    command = lib.mkOption {
      type = lib.types.functionTo lib.types.str;
      internal = true;
      readOnly = true;
      default = command;
      example = lib.literalExpression ''arguments: "python3 ''${toString arguments}"'';
      description = "A command line of systemd for the package's Python with these arguments.";
    };

    programs = lib.mkOption {
      type = lib.types.listOf (lib.types.either lib.types.package lib.types.str);
      internal = true;
      example = [ "/run/wrappers" ];
      description = "Where the units find programs.";
    };

    units = lib.genAttrs [ "services" "sockets" "timers" ] (_: kind);
  };

  config = lib.mkIf cfg.enable {
    services.parachute.units.services = {
      parachute-supervisor = {
        description = "Parachute: supervisor";
        wantedBy = [ "default.target" ];
        unitConfig = ours // {
          StartLimitIntervalSec = 300;
          StartLimitBurst = 5;
        };
        inherit environment;
        path = cfg.programs;
        serviceConfig = hardening.supervisor cfg.trust // {
          ExecStart = command [
            "-m" "parachute.supervisor" "--host" cfg.listenAddress "--port" (toString cfg.port) "--launcher" "systemd"
          ];
          # Python imports from the folder it is started in, which would be the home.
          WorkingDirectory = "/";
          Type = "notify";
          NotifyAccess = "main";
          # Long enough for a machine that has just started.
          TimeoutStartSec = 180;
          WatchdogSec = 60;
          TimeoutStopSec = 60;
          # `parachute stop` ends it well, and then it stays down.
          Restart = "on-failure";
          RestartSec = "1s";
          # Where `parachute logs` looks.
          StandardOutput = "append:${logs}/supervisor.log";
          StandardError = "inherit";
        };
      };

      parachute-core = {
        description = "Parachute: core";
        # Not only by its socket: modules wait for events, and agents for their hour.
        wantedBy = [ "default.target" ];
        # Without its sockets it would have nothing to serve on.
        requires = [ "parachute-core.socket" ];
        # It asks the supervisor for its sandboxes.
        wants = [ "parachute-supervisor.service" ];
        after = [ "parachute-core.socket" "parachute-supervisor.service" ];
        # One that fails again and again is given up, and its sockets refuse instead of letting callers wait.
        unitConfig = ours // {
          StartLimitIntervalSec = 300;
          StartLimitBurst = 5;
        };
        # It is held back itself, and has commands of hooks and git started from there.
        environment = environment // { PARACHUTE_PROGRAMS = "${cfg.trust}/run/programs/start.sock"; };
        path = cfg.programs;
        serviceConfig = hardening.core // {
          ExecStart = command [ "-m" "parachute.server" ];
          # Python imports from the folder it is started in, which would be the home.
          WorkingDirectory = "/";
          Type = "notify";
          NotifyAccess = "main";
          TimeoutStartSec = 180;
          WatchdogSec = 60;
          # SIGABRT would wait as long as the process is stopped.
          WatchdogSignal = "SIGKILL";
          TimeoutStopSec = 20;
          # The main process is asked to end and tells its own; what is then left of the control group is killed.
          KillMode = "mixed";
          # A command that takes too much memory does not end the whole service.
          OOMPolicy = "continue";
          Restart = "always";
          RestartSec = "50ms";
          RestartSteps = 3;
          RestartMaxDelaySec = "3200ms";
          # As many connections as its own limits allow: 1,024 descriptors are one stranger's.
          LimitNOFILE = 65536;
          # Where `parachute logs` looks.
          StandardOutput = "append:${logs}/core.log";
          StandardError = "inherit";
        };
      };

      "parachute-sandbox@" = withPrograms;
      "parachute-module@" = withPrograms;
      "parachute-mcp@" = withPrograms;
      parachute-direct = withPrograms;
      parachute-model = withPrograms;
      parachute-programs = withPrograms;
    };

    services.parachute.units.sockets.parachute-core = {
      description = "Parachute: sockets of core";
      wantedBy = [ "sockets.target" ];
      unitConfig = ours;
      listenStreams = [ cfg.endpoint ];
      socketConfig = {
        # Only the owner connects.
        SocketMode = "0600";
        DirectoryMode = "0700";
        Accept = false;
        Backlog = 128;
        # Small events of a stream would each wait 40 ms for an acknowledgement.
        NoDelay = true;
        BindIPv6Only = "ipv6-only";
        FileDescriptorName = "core";
        RemoveOnStop = true;
        # A service that ends again and again without taking its connection is given up after 20 starts in two seconds.
        TriggerLimitIntervalSec = "2s";
        TriggerLimitBurst = 20;
        # This younger limit would come first, and let it go on for ever.
        PollLimitIntervalSec = 0;
      };
    };
  };
}
