# Whether the computer runs on this machine, and from which package.
{ lib, pkgs, ... }:
{
  options.services.parachute = {
    enable = lib.mkEnableOption "Parachute Computer, a personal computer for one person's knowledge and agents";

    package = lib.mkOption {
      type = lib.types.package;
      default = pkgs.parachute-computer or (throw ''
        services.parachute.package: this nixpkgs has no parachute-computer. Import the flake's nixosModules.default, which brings it,
        or write the package here.
      '');
      defaultText = lib.literalExpression "pkgs.parachute-computer, or that of the flake";
      example = lib.literalExpression "inputs.parachute.packages.x86_64-linux.parachute";
      description = ''
        The package that runs. Its attribute `python` is a Python in which the program can be imported, and `version` is announced
        on the local network.
      '';
    };
  };
}
