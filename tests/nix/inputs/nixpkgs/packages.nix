# Packages that are described and never built. What a package was called with is part of its description, so that all of it is
# evaluated; what nixpkgs refuses, because it is not free, is refused.
{ lib, system, allowed }:
let
  described = arguments:
    let
      name = arguments.pname or arguments.name;
      kept = removeAttrs arguments [ "meta" "passthru" ];
      free = arguments.meta.license.free or true || builtins.getEnv "NIXPKGS_ALLOW_UNFREE" == "1" || allowed { pname = name; };
      package = derivation {
        name = "${name}-${arguments.version or "0"}";
        inherit system;
        builder = "/bin/sh";
        description = if free then builtins.toJSON kept else throw "Package ‘${name}’ has an unfree license, refusing to evaluate.";
      };
    in
    package // {
      # For tests, which ask what a package was made of.
      inherit arguments;
      inherit (arguments) meta;
      pname = name;
      version = arguments.version or "0";
      passthru = arguments.passthru or { };
      overrideAttrs = change: described (arguments // change arguments) // { outPath = package.outPath; };
    } // arguments.passthru or { };

  plain = name: described { inherit name; meta.mainProgram = name; };

  # As nixpkgs does it: arguments by name from the set, and `override` to give others.
  callPackage = file: given:
    let
      function = if builtins.isFunction file then file else import file;
      wanted = builtins.functionArgs function;
      found = builtins.intersectAttrs wanted packages;
      missing = builtins.filter (name: !wanted.${name} && !(found // given) ? ${name}) (builtins.attrNames wanted);
    in
    if missing != [ ] then throw "callPackage: there is no ${toString missing}"
    else function (found // given) // { override = others: callPackage file (given // others); };

  python = plain "python3" // {
    sitePackages = "lib/python3.13/site-packages";
    interpreter = "/nix/store/python/bin/python3.13";
    withPackages = choose: plain "python3-env" // { pkgs = python.pkgs; packages = choose python.pkgs; };
    pkgs = lib.genAttrs [ "hatchling" "hypothesis" "packaging" "psutil" "pytest" "pytest-asyncio" "pytest-timeout" "pytest-xdist" ] plain // {
      buildPythonPackage = described;
      buildPythonApplication = described;
      makePythonPath = lib.makeSearchPath "lib/python3.13/site-packages";
      toPythonModule = package: package;
    };
  };

  packages = lib.genAttrs [
    "alsa-lib" "autoPatchelfHook" "avahi" "bashInteractive" "bubblewrap" "bzip2" "cacert" "coreutils" "curl" "diffutils" "file"
    "findutils" "gawk" "gcc" "git" "gitMinimal" "glibc" "gnugrep" "gnumake" "gnused" "gnutar" "gzip" "jq" "less" "nixfmt-tree" "nodejs"
    "openssl" "patch" "patchelf" "podman" "procps" "restic" "ripgrep" "ruff" "shellcheck" "sqlite" "systemd" "unzip" "util-linux" "xz" "zip"
  ] plain // {
    inherit callPackage lib;
    # Not of nixpkgs: how the stand-in of home-manager gets those of its own configuration.
    permitting = allowed: import ./packages.nix { inherit lib system allowed; };
    pkgs = packages;
    linuxPackages = { kernel = plain "linux"; };
    python313 = python;
    python313Packages.pip = plain "pip";
    stdenv = { hostPlatform = { inherit system; }; cc.cc.lib = plain "gcc-lib"; };
    stdenvNoCC = {
      hostPlatform = {
        inherit system;
        node = { platform = "linux"; arch = if system == "x86_64-linux" then "x64" else "arm64"; };
      };
      mkDerivation = arguments: described ({ meta = { }; } // arguments);
    };
    fetchPypi = { hash, pname, version, python, abi, platform, dist, format }:
      assert builtins.match "sha256-[A-Za-z0-9+/]{43}=" hash != null && format == "wheel" && dist == python;
      described { name = "${pname}-${version}-${python}-${abi}-${platform}.whl"; inherit hash; meta = { }; };
    closureInfo = arguments: described (arguments // { name = "closure-info"; meta = { }; });
    buildEnv = arguments: described (arguments // { meta = { }; });
    runCommand = name: arguments: text: described ({ meta = { }; } // arguments // { inherit name text; });
    writeText = name: text: described { inherit name text; meta = { }; };
    writeShellScript = name: text: described { inherit name text; meta = { }; };
    writeShellScriptBin = name: text: described { inherit name text; meta = { }; };
    mkShell = arguments: described (arguments // { name = "shell"; meta = { }; });
    testers.runNixOSTest = test: described {
      name = "vm-test-${test.name}";
      inherit (test) testScript;
      nodes = lib.mapAttrs (_: node: (lib.nixosSystem {
        modules = [ ./nixos/modules/virtualisation/qemu-vm.nix node { nixpkgs.hostPlatform = system; } ];
      }).config.system.build.toplevel) test.nodes;
      meta = { };
    };
  };
in
packages
