# As much of home-manager's options as home.nix sets, with the types that they have there.
{ config, lib, ... }:
let
  inherit (lib) mkOption types;
  option = type: default: mkOption { inherit type default; };
  units = option (types.attrsOf (types.attrsOf (types.attrsOf types.anything))) { };
  files = option (types.attrsOf (types.submodule {
    options = {
      text = option (types.nullOr types.lines) null;
      source = option (types.nullOr types.path) null;
    };
  })) { };
in
{
  options = {
    assertions = option (types.listOf types.unspecified) [ ];
    home = {
      username = mkOption { type = types.str; };
      homeDirectory = mkOption { type = types.path; };
      profileDirectory = option types.path "/home/alice/.nix-profile";
      packages = option (types.listOf types.package) [ ];
      file = files;
      activation = option (types.attrsOf types.anything) { };
    };
    xdg.configHome = mkOption { type = types.path; };
    xdg.configFile = files;
    systemd.user = {
      services = units;
      sockets = units;
      timers = units;
    };
  };

  config.home = {
    username = lib.mkDefault "alice";
    homeDirectory = lib.mkDefault "/home/alice";
  };
  config.xdg.configHome = lib.mkDefault "${config.home.homeDirectory}/.config";
}
