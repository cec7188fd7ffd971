let
  modules = import ./lib;
  lib = modules // import ./library.nix modules // { inherit nixosSystem; };

  packagesFor = system: allowed: import ./packages.nix { inherit lib system allowed; };

  # A machine; as in nixpkgs, a failed assertion is an error of whatever is built from it.
  nixosSystem =
    arguments@{ modules, specialArgs ? { } }:
    let
      evaluated = lib.evalModules {
        modules = [ ./stubs.nix ./machine.nix ] ++ modules;
        specialArgs = specialArgs // {
          modulesPath = ./nixos/modules;
          pkgs = packagesFor evaluated.config.nixpkgs.hostPlatform evaluated.config.nixpkgs.config.allowUnfreePredicate;
        };
      };
    in
    evaluated // {
      extendModules = more: nixosSystem (arguments // { modules = modules ++ more.modules; });
    };
in
{
  inherit lib;
  legacyPackages = lib.genAttrs [ "x86_64-linux" "aarch64-linux" ] (system: packagesFor system (_: false));
}
