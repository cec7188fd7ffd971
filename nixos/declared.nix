# What the configuration says, as one file that the computer reads at its start. What is in it wins over what the user has set,
# and cannot be changed while the computer runs; everything else is the user's.
{ config, lib, ... }:
let
  cfg = config.services.parachute;
in
{
  config = lib.mkIf cfg.enable {
    services.parachute.declared = {
      version = 1;
      inherit (cfg) user;
      settings = { };
      modules = { };
      workspaces = { };
    };
    environment.etc."parachute/declared.json".text = builtins.toJSON cfg.declared;
  };
}
