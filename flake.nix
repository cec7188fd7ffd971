{
  description = "A personal, local-first computer for one person's knowledge and agents";

  inputs = {
    nixpkgs.url = "github:NixOS/nixpkgs/nixos-26.05";
    nixos-hardware.url = "github:NixOS/nixos-hardware";
    nixos-hardware.inputs.nixpkgs.follows = "nixpkgs";
  };

  outputs =
    {
      self,
      nixpkgs,
      nixos-hardware,
    }:
    let
      inherit (nixpkgs) lib;
      systems = [
        "x86_64-linux"
        "aarch64-linux"
      ];
      forEach = build: lib.genAttrs systems (system: build nixpkgs.legacyPackages.${system});

      machine =
        configuration:
        lib.nixosSystem {
          modules = [
            self.nixosModules.default
            configuration
          ];
          specialArgs = { inherit nixos-hardware; };
        };

      # A virtual machine of the same kind as the machine that runs it.
      vmOn =
        pkgs:
        self.nixosConfigurations.vm.extendModules {
          modules = [
            {
              nixpkgs.hostPlatform = pkgs.stdenv.hostPlatform.system;
              virtualisation.host.pkgs = pkgs;
            }
          ];
        };
    in
    {
      nixosModules = {
        default = {
          imports = [ ./nixos ];
        };
        # A machine that is nothing else, as the images are, without a disk: for a kind of image that nixpkgs makes of it.
        appliance = {
          imports = [
            ./nixos
            ./images/common.nix
          ];
        };
      };

      # For one's own user, by home-manager: see docs/nixos.md.
      homeModules.default = {
        imports = [ ./nixos/home.nix ];
      };

      overlays.default = final: _: { parachute-computer = final.callPackage ./nixos/package.nix { }; };

      # What docs/appliance.md and docs/nixos.md show.
      templates = lib.mapAttrs (name: description: {
        inherit description;
        path = ./nixos/templates + "/${name}";
      }) {
        appliance = "A Raspberry Pi or a server that is nothing else";
        server = "A NixOS machine that does other things as well";
        home = "One's own user on another Linux, with home-manager";
      };

      # Yours is one of these with `.extendModules`: see docs/appliance.md.
      nixosConfigurations = {
        rpi4 = machine ./images/rpi4.nix;
        rpi5 = machine ./images/rpi5.nix;
        server = machine ./images/server.nix;
        vm = machine ./images/vm.nix;
      };

      packages = forEach (
        pkgs:
        let
          parachute = pkgs.callPackage ./nixos/package.nix { };
        in
        {
          inherit parachute;
          default = parachute;
          sandbox-image = pkgs.callPackage ./nixos/sandbox-image.nix { };
          # The cards are built on ARM and the disk on x86-64, whichever machine asks for them.
          sd-image-rpi4 = self.nixosConfigurations.rpi4.config.system.build.sdImage;
          sd-image-rpi5 = self.nixosConfigurations.rpi5.config.system.build.sdImage;
          image-server = self.nixosConfigurations.server.config.system.build.image;
          vm = (vmOn pkgs).config.system.build.vm;
        }
      );

      # With Claude Code in them, for which nixpkgs asks for its permission: see docs/appliance.md. They are no `packages`, since
      # `nix flake check` would fail for everybody who has not given it.
      legacyPackages = forEach (pkgs: {
        parachute-with-agent = pkgs.callPackage ./nixos/package.nix { acceptUnfreeAgent = true; };
        vm-with-agent =
          ((vmOn pkgs).extendModules { modules = [ { services.parachute.acceptUnfreeAgent = true; } ]; })
          .config.system.build.vm;
      });

      apps = forEach (
        pkgs:
        let
          program = lib.getExe self.packages.${pkgs.stdenv.hostPlatform.system}.parachute;
          app = name: words: description: {
            type = "app";
            meta = { inherit description; };
            program = "${pkgs.writeShellScript "parachute-${name}" ''exec ${program} ${words} "$@"''}";
          };
          run = app "run" "start --foreground" "Start the computer here, until Ctrl-C";
        in
        {
          inherit run;
          default = run;
          setup = app "setup" "setup" "Set the computer up in a browser";
          parachute = app "parachute" "" "The command line";
        }
      );

      checks = forEach (
        pkgs:
        import ./nixos/checks.nix {
          inherit lib pkgs;
          module = self.nixosModules.default;
          inherit (lib) nixosSystem;
          package = self.packages.${pkgs.stdenv.hostPlatform.system}.parachute;
        }
      );

      # For tests/nix, and whatever else needs no sandbox of its own.
      devShells = forEach (
        pkgs:
        let
          inherit (self.packages.${pkgs.stdenv.hostPlatform.system}.parachute) python;
        in
        {
          default = pkgs.mkShell {
            packages = [
              python
              pkgs.bubblewrap
              pkgs.git
              pkgs.gnumake
              pkgs.restic
              pkgs.ruff
              pkgs.shellcheck
            ];
            PYTHONPATH = import ./nixos/test-runners.nix { inherit python; };
          };
        }
      );

      formatter = lib.filterAttrs (_: program: program != null) (forEach (pkgs: pkgs.nixfmt-tree or null));
    };
}
