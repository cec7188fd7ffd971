# The Claude Agent SDK in the version that pyproject.toml pins.
#
# The SDK itself is free software. Its wheel also carries the program that is the agent, Claude Code, and that is not:
# without `acceptUnfreeAgent` it is taken out, and then nothing answers in chats.
{
  lib,
  python,
  src,
  version,
  acceptUnfreeAgent ? false,
}:

python.pkgs.buildPythonPackage {
  pname = "claude-agent-sdk";
  inherit src version;
  format = "wheel";

  postInstall = lib.optionalString (!acceptUnfreeAgent) ''
    rm --recursive "$out/${python.sitePackages}/claude_agent_sdk/_bundled"
  '';

  # The program stays byte for byte what was published. It carries its own code behind the ELF sections, and it also runs in
  # containers that have no /nix/store, so its interpreter stays /lib64/ld-linux-*: see `environment.ldso` in agent.nix.
  dontStrip = true;
  dontPatchELF = true;

  dontCheckRuntimeDeps = true;
  doCheck = false;

  meta = {
    description = "Python SDK for Claude Agent${lib.optionalString acceptUnfreeAgent ", with Claude Code"}";
    homepage = "https://github.com/anthropics/claude-agent-sdk-python";
    license = if acceptUnfreeAgent then lib.licenses.unfree else lib.licenses.mit;
    sourceProvenance = lib.optional acceptUnfreeAgent lib.sourceTypes.binaryNativeCode;
  };
}
