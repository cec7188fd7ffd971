# The Python packages that Parachute needs: the same files that `make run` installs, for every system that has an image.
#
# nixpkgs has most of them too, in other versions than the ones that the tests ran with. So the set is closed: nothing of
# it is mixed with nixpkgs' packages, and a newer nixpkgs changes the interpreter and the libraries below it, nothing else.
# wheels.json is written by `make lock`.
{
  lib,
  stdenv,
  callPackage,
  fetchPypi,
  autoPatchelfHook,
  python,
  acceptUnfreeAgent ? false,
  agentInterpreter ? null,
}:

let
  inherit (stdenv.hostPlatform) system;

  fetch =
    wheel:
    fetchPypi {
      inherit (wheel)
        pname
        version
        python
        abi
        platform
        hash
        ;
      format = "wheel";
      dist = wheel.python;
    };

  wheelFor =
    name: wheels:
    wheels.${system} or (throw ''
      Parachute runs on ${lib.concatStringsSep " and " (lib.attrNames wheels)}: ${name} has no file for ${system}.
    '');

  package =
    name: wheels:
    let
      wheel = wheelFor name wheels;
      native = wheel.platform != "any";
    in
    python.pkgs.buildPythonPackage {
      pname = name;
      inherit (wheel) version;
      format = "wheel";
      src = fetch wheel;

      # Libraries that were built elsewhere find the ones they need in the store.
      nativeBuildInputs = lib.optionals native [ autoPatchelfHook ];
      buildInputs = lib.optionals native [ stdenv.cc.cc.lib ];
      dontStrip = native;

      # The lock file has settled which package needs which; the application depends on all of them.
      dontCheckRuntimeDeps = true;
      doCheck = false;

      meta = lib.optionalAttrs native { sourceProvenance = [ lib.sourceTypes.binaryNativeCode ]; };
    };

  listed = lib.importJSON ./wheels.json;

  agent = callPackage ../claude-agent-sdk.nix {
    inherit python acceptUnfreeAgent agentInterpreter;
    inherit (wheelFor "claude-agent-sdk" listed.claude-agent-sdk) version;
    src = fetch (wheelFor "claude-agent-sdk" listed.claude-agent-sdk);
  };
in
lib.mapAttrs package (removeAttrs listed [ "claude-agent-sdk" ]) // { claude-agent-sdk = agent; }
