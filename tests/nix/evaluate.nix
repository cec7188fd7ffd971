# A configuration as NixOS or home-manager would evaluate it: everything that is set, or the failed assertions as one error.
{ lib, pkgs, configuration, home ? false }:
let
  evaluated = lib.evalModules {
    modules = [ configuration ] ++ (if home then [ ./home_stubs.nix ../../nixos/home.nix ] else [ ./stubs.nix ../../nixos/modules.nix ]);
    specialArgs = { inherit pkgs; } // lib.optionalAttrs home { lib = import ./home_lib.nix lib; };
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
