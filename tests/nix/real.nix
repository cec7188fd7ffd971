# The outputs of our flake with trees of nixpkgs and nixos-hardware as its inputs: as a flake each evaluation would copy them.
{
  nixpkgs,
  hardware,
  project,
}:
let
  lib = import (nixpkgs + "/lib");
  inputs = {
    nixpkgs = {
      outPath = nixpkgs;
      lib = lib // {
        nixosSystem =
          arguments:
          import (nixpkgs + "/nixos/lib/eval-config.nix") (
            {
              inherit (inputs.nixpkgs) lib;
              system = null;
            }
            // arguments
          );
      };
      legacyPackages = lib.genAttrs [ "x86_64-linux" "aarch64-linux" ] (system: import nixpkgs { inherit system; });
    };
    nixos-hardware =
      (import (hardware + "/flake.nix")).outputs {
        self = inputs.nixos-hardware;
        inherit (inputs) nixpkgs;
      }
      // {
        outPath = hardware;
      };
    self = (import (project + "/flake.nix")).outputs inputs // {
      outPath = project;
    };
  };
in
inputs.self
