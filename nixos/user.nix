# The user whose computer it is. All processes are that user's: rootless Podman cannot be run by a service of the system.
{ config, lib, ... }:
let
  cfg = config.services.parachute;
  user = config.users.users.${cfg.user};
  ours = cfg.user == "parachute";
in
{
  options.services.parachute.user = lib.mkOption {
    type = lib.types.strMatching "[a-z_][a-z0-9_-]{0,30}" // { description = "name of a user"; };
    default = "parachute";
    example = "alice";
    description = ''
      The user to whom the computer, its vault and its agents belong. `parachute` is made here; any other is one of yours in
      `users.users`, with `isNormalUser`.
    '';
  };

  config = lib.mkIf cfg.enable {
    assertions = [
      {
        assertion = cfg.user != "root";
        message = ''
          services.parachute.user: root cannot have containers of its own. Leave the option out, or name an ordinary user.
        '';
      }
      {
        assertion = cfg.user == "root" || user.isNormalUser;
        message = ''
          services.parachute.user: "${cfg.user}" is no ordinary user of this machine, and so has neither a home nor services of its own.
          Write users.users.${cfg.user}.isNormalUser = true, or leave the option out for a user of its own.
        '';
      }
      {
        assertion = config.security.allowUserNamespaces;
        message = ''
          services.parachute: what shuts agents and modules in is made of user namespaces, and this configuration forbids them.
          Write security.allowUserNamespaces = true.
        '';
      }
    ];

    # Since 25.11 `linger` alone is not looked at.
    users.manageLingering = true;
    users.users.${cfg.user} = lib.mkMerge [
      {
        # Its services run from boot on, without anybody logged in.
        linger = true;
        # Numbers for the users inside its containers, in /etc/subuid and /etc/subgid.
        autoSubUidGidRange = lib.mkDefault true;
      }
      (lib.mkIf ours {
        isNormalUser = true;
        description = "Parachute Computer";
        home = "/home/parachute";
        # No password is set: nobody can log in as this user.
      })
    ];

    # Neither of these makes the numbers of `autoSubUidGidRange` (userborn #7), and without them no container starts.
    environment.etc = lib.mkIf (config.services.userborn.enable or false || config.systemd.sysusers.enable or false) (
      lib.genAttrs [ "subuid" "subgid" ] (_: {
        text = lib.mkDefault "${cfg.user}:100000:65536\n";
      })
    );

    # systemd opens the logs before anything of ours runs.
    systemd.tmpfiles.settings."10-parachute" = lib.genAttrs [ "${user.home}/.parachute" "${user.home}/.parachute/logs" ] (_: {
      d = {
        mode = "0700";
        user = cfg.user;
        inherit (user) group;
      };
    });
  };
}
