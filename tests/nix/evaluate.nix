# A configuration as NixOS would evaluate it: everything that is set, or the failed assertions as one error.
{ lib ? import ./lib, pkgs ? import ./packages.nix { }, configuration, modules ? [ ] }:
let
  evaluated = lib.evalModules {
    modules = [ ./stubs.nix ../../nixos/modules.nix configuration ] ++ modules;
    specialArgs = { inherit pkgs; };
  };
  failed = map (each: each.message) (builtins.filter (each: !each.assertion) evaluated.config.assertions);
in
{
  config =
    if failed != [ ] then throw "\nFailed assertions:\n${lib.concatMapStrings (message: "- ${message}") failed}"
    else removeAttrs evaluated.config [ "assertions" "_module" "services" ] // {
      # Without the function that is shared by its files.
      services = evaluated.config.services // { parachute = removeAttrs evaluated.config.services.parachute [ "command" ]; };
    };
  inherit (evaluated) options;
}
