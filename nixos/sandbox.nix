# What shuts agents in: rootless Podman, one container for each conversation, held to limits.
{ config, lib, ... }:
let
  cfg = config.services.parachute;
  sandbox = cfg.sandbox;
  driver = config.virtualisation.containers.storage.settings.storage.driver;

  optionalNumber = type: example: description: lib.mkOption {
    type = lib.types.nullOr type;
    default = null;
    inherit example;
    description = "${description}; null leaves it to the user.";
  };
in
{
  options.services.parachute.sandbox = {
    engine = lib.mkOption {
      type = lib.types.enum [ "podman" "bubblewrap" "auto" ];
      default = "podman";
      example = "podman";
      description = "What shuts agents in. Only Podman holds them to limits of memory, processors and processes.";
    };

    required = lib.mkOption {
      type = lib.types.bool;
      default = true;
      example = true;
      description = "Refuse to run a sandboxed conversation without a sandbox and its limits, instead of warning.";
    };

    image = lib.mkOption {
      type = lib.types.nullOr lib.types.path;
      default = null;
      example = lib.literalExpression ''"''${inputs.parachute.packages.x86_64-linux.sandbox-image}/root.tar.gz"'';
      description = ''
        The root of the containers' image, as a tar file, which may be compressed. It is taken over when it is another one than before; null:
        the user builds one with `parachute sandbox build`.
      '';
    };

    packages = lib.mkOption {
      type = lib.types.listOf lib.types.package;
      default = [ ];
      example = lib.literalExpression "[ pkgs.ffmpeg ]";
      description = ''
        Packages in the image beside its own, which `parachute sandbox status` lists. They are part of the image that this
        module makes; the user's setting `sandbox.packages` names packages of Debian and holds for images that the user builds.
      '';
    };

    memory = optionalNumber (lib.types.ints.between 256 1048576) 1536 "Memory of one sandbox, in megabytes";
    cpus = optionalNumber (lib.types.numbers.between 0.1 1024) 2.0 "Processors that one sandbox may use";
    processes = optionalNumber (lib.types.ints.between 64 32768) 200 "Processes and threads of one sandbox at a time";
    totalMemory = optionalNumber (lib.types.ints.between 64 16777216) 3072
      "Memory of all sandboxes together, in megabytes, over which the one that is idle for longest ends";
    idle = optionalNumber lib.types.numbers.positive 30 "Minutes without a turn after which a sandbox ends";

    hosts = lib.mkOption {
      type = lib.types.nullOr (lib.types.listOf lib.types.str);
      default = null;
      example = [ "*.wikipedia.org" ];
      description = "Hosts that agents of modules reach whose manifest says `network: bridge`; null leaves it to the user.";
    };
  };

  config = lib.mkIf cfg.enable {
    assertions = [
      {
        assertion = sandbox.required -> sandbox.engine == "podman";
        message = ''
          services.parachute.sandbox: "${sandbox.engine}" does not hold agents to limits, so `required` cannot be kept. Write
          services.parachute.sandbox.engine = "podman", or required = false if agents may run without limits.
        '';
      }
      {
        assertion = cfg.settings.sandbox.limits or "enforced" == "enforced";
        message = ''
          services.parachute.settings.sandbox.limits: NixOS enforces limits, so a container without them is a mistake. Leave the
          setting out.
        '';
      }
      {
        assertion = sandbox.engine == "podman" -> driver == "overlay";
        message = ''
          services.parachute.sandbox: Podman with the storage driver "${toString driver}" copies its whole image for each conversation.
          Write virtualisation.containers.storage.settings.storage.driver = "overlay".
        '';
      }
    ];

    services.parachute.declared.settings.sandbox = {
      inherit (sandbox) engine required;
      limits = "enforced";
    } // lib.filterAttrs (_: value: value != null) {
      memory_megabytes = sandbox.memory;
      inherit (sandbox) cpus processes hosts;
      total_memory_megabytes = sandbox.totalMemory;
      idle_minutes = sandbox.idle;
    };

    virtualisation.podman.enable = lib.mkIf (sandbox.engine != "bubblewrap") true;
    virtualisation.containers.storage.settings.storage.driver = lib.mkDefault "overlay";

    systemd.user.services.parachute-sandbox-image = lib.mkIf (sandbox.image != null && sandbox.engine != "bubblewrap") {
      description = "Parachute: image of the sandboxes";
      wantedBy = [ "default.target" ];
      unitConfig.ConditionUser = cfg.user;
      path = cfg.programs;
      environment.PARACHUTE_HOME = cfg.trust;
      # Making the image of a root takes minutes on a small machine: once for each root.
      script = ''
        taken=$STATE_DIRECTORY/taken
        if [ "$(cat "$taken" 2>/dev/null)" != ${lib.escapeShellArg "${sandbox.image}"} ]; then
          ${cfg.package}/bin/parachute sandbox build --from-tar ${lib.escapeShellArg "${sandbox.image}"}
          printf '%s' ${lib.escapeShellArg "${sandbox.image}"} > "$taken"
        fi
      '';
      serviceConfig = {
        Type = "oneshot";
        StateDirectory = "parachute-sandbox-image";
        # A machine without room or power in that moment tries again.
        Restart = "on-failure";
        RestartSec = "5min";
        TimeoutStartSec = "1h";
      };
    };
  };
}
