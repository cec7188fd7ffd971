# What `nix flake check` shows: the examples are configurations of NixOS, a machine boots them, and the package's own tests.
{
  lib,
  pkgs,
  module,
  nixosSystem,
  package,
}:
let
  # A machine around an example, which says nothing of disks.
  around = {
    nixpkgs.hostPlatform = pkgs.stdenv.hostPlatform.system;
    boot.loader.grub.enable = false;
    fileSystems."/" = {
      device = "/dev/disk/by-label/nixos";
      fsType = "ext4";
    };
    # The checks need no permission for anything that is not free.
    services.parachute.acceptUnfreeAgent = lib.mkDefault false;
    system.stateVersion = "26.05";
  };

  evaluated =
    file:
    let
      system = nixosSystem {
        modules = [
          module
          file
          around
        ];
      };
    in
    # The path of its description, not the system itself: it is evaluated, and not built.
    pkgs.writeText "evaluated" (builtins.unsafeDiscardStringContext system.config.system.build.toplevel.drvPath);

  examples = lib.mapAttrs' (name: _: {
    name = "example-${lib.removeSuffix ".nix" name}";
    value = evaluated (./examples + "/${name}");
  }) (lib.filterAttrs (name: _: lib.hasSuffix ".nix" name && !(lib.elem name foreign)) (builtins.readDir ./examples));

  # Shows the module together with sops-nix, which is no input of the flake.
  foreign = [ "sops.nix" ];

  # Tests that need neither a network nor processes of other users, with the interpreter that the units run.
  tests =
    { runCommand, git }:
    runCommand "parachute-tests" { nativeBuildInputs = [ git ]; } ''
      cp --recursive --no-preserve=mode ${
        lib.fileset.toSource {
          root = ../.;
          fileset = lib.fileset.unions [
            ../docs
            ../pyproject.toml
            ../tests
          ];
        }
      }/. .
      export HOME=$TMPDIR PYTHONPATH=${import ./test-runners.nix { inherit (package) python; }}
      ${package.python}/bin/python3 -m pytest -p no:cacheprovider \
        tests/core tests/modules/manifest tests/config/settings tests/base/test_database.py tests/base/test_files.py
      touch $out
    '';
in
examples
// {
  inherit package;
  tests = pkgs.callPackage tests { };
  boots = pkgs.testers.runNixOSTest (import ../tests/nix/vm-test.nix { inherit module; });
}
