# Stands for home-manager: as much of it as our module asks for, and nothing is built.
{
  inputs.nixpkgs.url = "github:NixOS/nixpkgs";

  outputs =
    { nixpkgs, ... }:
    {
      lib.homeManagerConfiguration =
        { pkgs, modules }:
        let
          inherit (nixpkgs) lib;
          evaluated = lib.evalModules {
            modules = modules ++ [ (nixpkgs + "/home_stubs.nix") permission ];
            specialArgs = {
              lib = import (nixpkgs + "/home_lib.nix") lib;
              pkgs = pkgs.permitting evaluated.config.nixpkgs.config.allowUnfreePredicate;
            };
          };
          permission.options = {
            nixpkgs.config.allowUnfreePredicate = lib.mkOption { type = lib.types.functionTo lib.types.bool; default = _: false; };
            home.stateVersion = lib.mkOption { type = lib.types.str; };
          };
          failed = map (each: each.message) (builtins.filter (each: !each.assertion) evaluated.config.assertions);
        in
        evaluated
        // {
          activationPackage =
            if failed != [ ] then throw (toString failed)
            else pkgs.writeText "home" (builtins.toJSON { inherit (evaluated.config) home systemd xdg; });
        };
    };
}
