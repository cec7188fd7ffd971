{ config, lib, pkgs, ... }:
let
  inherit (lib) mkOption types;
in
{
  options.virtualisation = {
    host.pkgs = mkOption { type = types.unspecified; default = pkgs; };
    memorySize = mkOption { type = types.ints.positive; default = 1024; };
    diskSize = mkOption { type = types.ints.positive; default = 1024; };
    cores = mkOption { type = types.ints.positive; default = 1; };
    graphics = mkOption { type = types.bool; default = true; };
    forwardPorts = mkOption {
      type = types.listOf (types.submodule {
        options = {
          from = mkOption { type = types.enum [ "host" "guest" ]; default = "host"; };
          host.address = mkOption { type = types.str; default = ""; };
          host.port = mkOption { type = types.port; };
          guest.port = mkOption { type = types.port; };
        };
      });
      default = [ ];
    };
  };
  config.system.build.vm = pkgs.writeText "vm" "${config.system.build.toplevel}";
}
