# Parachute Computer: the program, and in `passthru.python` an interpreter that has it and what it needs.
{
  lib,
  stdenv,
  callPackage,
  fetchPypi,
  autoPatchelfHook,
  # Named, since the wheels in python/ are made for this one.
  python313,
  bubblewrap,
  git,
  restic,
  # Whether the agent's program, Claude Code, is part of it; that program is not free software.
  acceptUnfreeAgent ? false,
  # The loader that this program asks for; null: the one of systems that are not NixOS.
  agentInterpreter ? null,
}:

let
  python = python313;
  project = (lib.importTOML ../pyproject.toml).project;
  # Not by callPackage, which would add its own functions to the set.
  packages = import ./python {
    inherit
      lib
      stdenv
      callPackage
      fetchPypi
      autoPatchelfHook
      python
      acceptUnfreeAgent
      agentInterpreter
      ;
  };

  application = python.pkgs.buildPythonApplication {
    pname = project.name;
    inherit (project) version;
    pyproject = true;

    src = lib.fileset.toSource {
      root = ../.;
      fileset = lib.fileset.unions [
        ../README.md
        ../modules
        ../parachute
        ../pyproject.toml
        ../sandbox
      ];
    };

    preBuild = ''
      cp -r ${callPackage ./console.nix { }} parachute/server/console/static
    '';

    build-system = [ python.pkgs.hatchling ];
    dependencies = lib.attrValues packages;

    makeWrapperArgs = [
      "--prefix"
      "PATH"
      ":"
      (lib.makeBinPath [
        bubblewrap
        git
        restic
      ])
    ];

    # Loads every library that was built elsewhere.
    pythonImportsCheck = [
      "claude_agent_sdk"
      "cryptography"
      "dbus_fast"
      "httptools"
      "parachute.server.app"
      "parachute_runner"
      "pydantic_core"
      "rpds"
      "tree_sitter_bash"
      "watchfiles"
      "xllamacpp"
      "yaml"
    ];
    # That what is installed is whole. The tests need a model service, sandboxes and systemd: `make test` in a checkout, and some
    # of them in `checks.tests` of the flake.
    checkPhase = ''
      runHook preCheck
      cd "$TMPDIR" # Python would import the sources
      export HOME=$TMPDIR PYTHONPATH="$out/${python.sitePackages}:$PYTHONPATH"
      $out/bin/parachute --version | grep --fixed-strings '${project.version}'
      ${python.interpreter} -c '
      import json, parachute.modules.registry.verified as verified
      from pathlib import Path
      stored = json.loads(Path(verified.__file__).with_name("verified.json").read_text())
      found = verified.official_hashes(verified.official_folder())
      assert found and stored == found, (stored, found)
      '
      runHook postCheck
    '';

    meta = {
      description = project.description;
      license = lib.licenses.agpl3Plus;
      mainProgram = "parachute";
      platforms = [
        "x86_64-linux"
        "aarch64-linux"
      ];
    };
  };
in
application.overrideAttrs (before: {
  passthru = before.passthru or { } // {
    inherit packages;
    # Units run `${package.python}/bin/python3 -m parachute.supervisor`.
    python = python.withPackages (_: [ (python.pkgs.toPythonModule application) ]);
  };
})
