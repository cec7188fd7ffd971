# The settings of config.yaml. What is said here cannot be changed while the computer runs; all others are its user's.
{ config, lib, options, ... }:
let
  cfg = config.services.parachute;

  json = lib.types.nullOr (lib.types.oneOf [
    lib.types.bool
    lib.types.int
    lib.types.float
    lib.types.str
    (lib.types.listOf json)
    (lib.types.attrsOf json)
  ]) // { description = "value of JSON"; };

  # Settings that have an option of their own, and which it is.
  own = {
    "vault" = "services.parachute.vault";
    "port" = "services.parachute.port";
    "host" = "services.parachute.lan.enable";
    "auth_mode" = "services.parachute.auth";
    "provider" = "services.parachute.provider";
    "offline.model" = "services.parachute.offlineModel";
    "backup.repository" = "services.parachute.backup.repository";
    "backup.password_file" = "services.parachute.backup.passwordFile";
    "backup.environment_file" = "services.parachute.backup.environmentFile";
    "backup.time" = "services.parachute.backup.schedule";
    "backup.drill" = "services.parachute.backup.drill.schedule";
  }
  # With home-manager they are settings like others.
  // lib.optionalAttrs (options.services.parachute ? sandbox) {
    "sandbox.required" = "services.parachute.sandbox.required";
    "sandbox.engine" = "services.parachute.sandbox.engine";
    "sandbox.hosts" = "services.parachute.sandbox.hosts";
    "sandbox.idle_minutes" = "services.parachute.sandbox.idle";
    "sandbox.memory_megabytes" = "services.parachute.sandbox.memory";
    "sandbox.total_memory_megabytes" = "services.parachute.sandbox.totalMemory";
    "sandbox.cpus" = "services.parachute.sandbox.cpus";
    "sandbox.processes" = "services.parachute.sandbox.processes";
  };

  known = lib.importJSON ./settings.json;
  isGroup = name: lib.any (lib.hasPrefix "${name}.") known;

  # The dotted names of what is set; a group is never a value itself.
  names = prefix: set: lib.concatLists (lib.mapAttrsToList
    (name: value:
      let full = prefix + name;
      in if lib.isAttrs value && isGroup full then names "${full}." value else [ full ])
    set);
  set = names "" cfg.settings;
in
{
  options.services.parachute = {
    vault = lib.mkOption {
      type = lib.types.nullOr lib.types.path;
      default = null;
      example = "/srv/parachute";
      description = "The folder with all data; null for `~/Parachute` of the user, who may then choose another one.";
    };

    provider = lib.mkOption {
      type = lib.types.nullOr (lib.types.enum [ "auto" "anthropic" "compatible" "offline" ]);
      default = null;
      example = "anthropic";
      description = "Where the model runs; null leaves it to the user.";
    };

    offlineModel = lib.mkOption {
      type = lib.types.nullOr lib.types.path;
      default = null;
      example = "/srv/models/qwen3-4b-q4.gguf";
      description = "A .gguf file for the model that runs on this machine; null for the small one that is built in.";
    };

    settings = lib.mkOption {
      type = lib.types.attrsOf json;
      default = { };
      example = {
        daily_spending_limit = 5.0;
        agents.warm = 1;
        project_folders = [ "/home/alice/Projects" ];
      };
      description = ''
        Any other setting of `config.yaml`, with the names that it has there; `parachute config` lists them. What is set here
        cannot be changed while the computer runs.
      '';
    };

    declared = lib.mkOption {
      type = lib.types.attrsOf json;
      internal = true;
      default = { };
      example = { settings.port = 3333; };
      description = "What goes into declared.json; the files of this module fill it.";
    };
  };

  config = lib.mkIf cfg.enable {
    assertions =
      map
        (name: {
          assertion = !(own ? ${name});
          message = ''
            services.parachute.settings.${name}: this setting has an option of its own. Write ${own.${name} or ""} instead.
          '';
        })
        set
      ++ map
        (name: {
          assertion = lib.elem name known || own ? ${name};
          message = ''
            services.parachute.settings.${name}: unknown setting. `parachute config` lists all of them; docs/settings.md says
            what they mean.
          '';
        })
        set;

    services.parachute.declared.settings = lib.mkMerge [
      (lib.removeAttrs cfg.settings (lib.filter (name: isGroup name && cfg.settings.${name} == { }) (lib.attrNames cfg.settings)))
      (lib.mkIf (cfg.vault != null) { vault = toString cfg.vault; })
      (lib.mkIf (cfg.provider != null) { inherit (cfg) provider; })
      (lib.mkIf (cfg.offlineModel != null) { offline.model = "${cfg.offlineModel}"; })
    ];
  };
}
