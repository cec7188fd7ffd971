# What the flake gives as homeModules.default: the same computer for one's own user, by home-manager, on any Linux with systemd.
{ config, lib, pkgs, ... }:
let
  cfg = config.services.parachute;
  # Outside of ~/.parachute, which a restore replaces with that of another computer or generation.
  file = "parachute/declared.json";
  variables.PARACHUTE_DECLARED = "${config.xdg.configHome}/${file}";

  # A shell that home-manager does not look after knows no variable of it.
  program = pkgs.writeShellScriptBin "parachute" ''
    export PARACHUTE_DECLARED=''${PARACHUTE_DECLARED-${lib.escapeShellArg variables.PARACHUTE_DECLARED}}
    exec ${cfg.package}/bin/parachute "$@"
  '';

  environment =
    definition: lib.mapAttrsToList (name: value: builtins.toJSON "${name}=${value}") (
      definition.environment or { } // variables // { PATH = lib.makeBinPath definition.path; }
    );

  # A unit as NixOS describes it, as home-manager does.
  unit = section: definition: settings: {
    Unit = {
      Description = definition.description;
      Requires = definition.requires or [ ];
      Wants = definition.wants or [ ];
      After = definition.after or [ ];
    } // definition.unitConfig;
    ${section} = settings;
    Install.WantedBy = definition.wantedBy or [ ];
  };

  service =
    _: definition:
    lib.recursiveUpdate (unit "Service" definition (definition.serviceConfig // { Environment = environment definition; })) {
      Unit =
        if definition.restartIfChanged or true then
          # Its unit may be the same when what is declared is not.
          { X-Restart-Triggers = [ (builtins.hashString "sha256" (builtins.toJSON cfg.declared)) ]; }
        else
          { X-SwitchMethod = "keep-old"; };
    };

  # What the supervisor writes while it runs; home-manager has no option for a part of a unit.
  isPart = definition: definition ? overrideStrategy;
  part = name: definition: {
    name = "systemd/user/${name}.service.d/overrides.conf";
    value.text = "[Service]\n" + lib.concatMapStrings (each: "Environment=${each}\n") (environment definition);
  };
in
{
  imports = [
    ./shared.nix
    ./agent.nix
  ];

  options.services.parachute.user = lib.mkOption {
    type = lib.types.str;
    internal = true;
    readOnly = true;
    default = config.home.username;
    example = "alice";
    description = "The user to whom the computer belongs.";
  };

  config = lib.mkMerge [
    {
      services.parachute.trust = "${config.home.homeDirectory}/.parachute";
      services.parachute.programs = [
        # The system's own come first: newuidmap has rights there, and bwrap may be the one that is allowed to make namespaces.
        "/run/wrappers"
        program
        "/usr/local"
        "/usr"
        pkgs.git
        pkgs.bubblewrap
        # Commands of hooks are the user's own.
        config.home.profileDirectory
        "/run/current-system/sw"
      ];
    }
    (lib.mkIf cfg.enable {
      home.packages = [ program ];
      # systemd opens the logs before anything of ours runs.
      home.activation.parachute = lib.hm.dag.entryBetween [ "linkGeneration" ] [ "writeBoundary" ] ''
        run install --directory --mode=0700 ${lib.escapeShellArg cfg.trust} ${lib.escapeShellArg "${cfg.trust}/logs"}
      '';

      systemd.user = {
        services = lib.mapAttrs service (lib.filterAttrs (_: definition: !isPart definition) cfg.units.services);
        sockets = lib.mapAttrs (
          _: definition: unit "Socket" definition (definition.socketConfig // { ListenStream = definition.listenStreams; })
        ) cfg.units.sockets;
        timers = lib.mapAttrs (_: definition: unit "Timer" definition definition.timerConfig) cfg.units.timers;
      };
      xdg.configFile = {
        ${file} = cfg.declaredFile;
      } // lib.mapAttrs' part (lib.filterAttrs (_: isPart) cfg.units.services);
    })
  ];
}
