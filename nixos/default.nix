# What the flake gives as nixosModules.default: the module with the package and the image that it runs.
{ config, lib, pkgs, ... }:
let
  cfg = config.services.parachute;
  sandboxImage = pkgs.callPackage ./sandbox-image.nix { added = cfg.sandbox.packages; };
in
{
  imports = [
    ./modules.nix
    ./agent.nix
  ];

  config.services.parachute = lib.mkIf cfg.enable {
    # What was built elsewhere asks for a loader that NixOS does not have. This one is in the containers' image as well.
    agentInterpreter = "${pkgs.glibc}/lib/${baseNameOf sandboxImage.loader}";
    sandbox.image = lib.mkDefault "${sandboxImage}/root.tar.gz";
  };
}
