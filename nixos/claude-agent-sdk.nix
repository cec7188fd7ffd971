# The Claude Agent SDK in the version that pyproject.toml pins.
#
# The SDK itself is free software. Its wheel also carries the program that is the agent, Claude Code, and that is not:
# without `acceptUnfreeAgent` it is taken out, and then nothing answers in chats.
{
  lib,
  patchelf,
  python,
  src,
  version,
  acceptUnfreeAgent ? false,
  # The loader that the program asks for; null: the one of other systems.
  agentInterpreter ? null,
}:

python.pkgs.buildPythonPackage {
  pname = "claude-agent-sdk";
  inherit src version;
  format = "wheel";

  postInstall = lib.optionalString (!acceptUnfreeAgent) ''
    rm --recursive "$out/${python.sitePackages}/claude_agent_sdk/_bundled"
  '';

  nativeBuildInputs = lib.optional (agentInterpreter != null) patchelf;
  postFixup = lib.optionalString (acceptUnfreeAgent && agentInterpreter != null) ''
    patchelf --set-interpreter ${agentInterpreter} "$out/${python.sitePackages}/claude_agent_sdk/_bundled/claude"
  '';

  # The program carries its own code behind the ELF sections, which these would take or move. Changing its loader alone does not, and
  # is only done where containers have that loader as well: see agent.nix.
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
