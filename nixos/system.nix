# What a machine with NixOS gets of all this: units in /etc for the user's manager, started anew by a switch, and the declaration.
{ config, lib, pkgs, ... }:
let
  cfg = config.services.parachute;
  # Where the computer is not enabled there is no such user.
  home = config.users.users.${cfg.user}.home or "/home/${cfg.user}";

  both = [ "parachute-supervisor" "parachute-core" ];
  systemctl = "${config.systemd.package}/bin/systemctl --user";
  generation = builtins.hashString "sha256" (builtins.toJSON [
    cfg.declared
    (map (name: { inherit (config.systemd.user.services.${name}) environment serviceConfig; }) both)
  ]);
in
{
  config = lib.mkMerge [
    {
      services.parachute.trust = "${home}/.parachute";
      services.parachute.programs = [
        # newuidmap, without which there is no rootless container: it has to be the one with the rights.
        "/run/wrappers"
        cfg.package
        pkgs.git
        pkgs.bubblewrap
        config.virtualisation.podman.package
        # Commands of hooks are the user's own.
        "/etc/profiles/per-user/${cfg.user}"
        "/run/current-system/sw"
      ];
    }
    (lib.mkIf cfg.enable {
      # For its user the program needs no variable to find what belongs to it: that is ~/.parachute.
      environment.systemPackages = [ cfg.package ];
      environment.etc."parachute/declared.json" = cfg.declaredFile;

      # NixOS would stop the socket of core as well, and refuse whoever calls meanwhile: the script below leaves it open.
      systemd.user = lib.recursiveUpdate cfg.units {
        services = lib.genAttrs both (_: { restartIfChanged = false; });
      };

      # This runs in each user's manager at every switch, and at boot, where there is nothing to restart; what is new, or was changed
      # and is none of these three, NixOS has started by then. The socket stays, unless it is another one: it holds connections
      # meanwhile.
      system.userActivationScripts.parachute.text = ''
        if [ "$(id -un)" = ${lib.escapeShellArg cfg.user} ]; then
          seen=$XDG_RUNTIME_DIR/parachute-generation
          if read -r generation address 2>/dev/null < "$seen"; then
            if [ "$address" != ${lib.escapeShellArg cfg.endpoint} ]; then
              ${systemctl} try-restart parachute-core.socket
            fi
            if [ "$generation" != ${generation} ]; then
              ${systemctl} try-restart parachute-supervisor.service parachute-core.service
            fi
          fi
          echo ${generation} ${lib.escapeShellArg cfg.endpoint} > "$seen"
        fi
      '';
    })
  ];
}
