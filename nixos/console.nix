# The console, bundled from the packages of console/package-lock.json: each is fetched by name and checked against the lock's hash.
{
  lib,
  stdenvNoCC,
  nodejs,
  cacert,
}:

let
  lock = lib.importJSON ../console/package-lock.json;
  inherit (stdenvNoCC.hostPlatform.node) platform arch;

  # What the bundle needs on this machine: nothing for development, and of the compiled bundlers only one.
  fits =
    path: entry:
    path != ""
    && !(entry.dev or false)
    && lib.elem platform (entry.os or [ platform ])
    && lib.elem arch (entry.cpu or [ arch ]);

  fetch =
    path: entry:
    let
      name = lib.last (lib.splitString "node_modules/" path);
    in
    stdenvNoCC.mkDerivation {
      name = "${lib.strings.sanitizeDerivationName name}-${entry.version}.tgz";
      nativeBuildInputs = [
        nodejs
        cacert
      ];
      impureEnvVars = lib.fetchers.proxyImpureEnvVars;
      dontUnpack = true;
      buildPhase = ''
        HOME=$TMPDIR npm pack --silent ${lib.escapeShellArg "${name}@${entry.version}"}
        mv -- *.tgz "$out"
      '';
      dontInstall = true;
      dontFixup = true;
      outputHashMode = "flat";
      outputHash = entry.integrity;
    };

  place = path: entry: ''
    mkdir -p ${path}
    tar -xzf ${fetch path entry} --strip-components=1 -C ${path}
  '';
in
stdenvNoCC.mkDerivation {
  pname = "parachute-console";
  version = (lib.importTOML ../pyproject.toml).project.version;

  src = lib.fileset.toSource {
    root = ../.;
    fileset = lib.fileset.unions [
      ../console/build.mjs
      ../console/languages_read.mjs
      ../console/package.json
      ../console/src
      ../languages
    ];
  };

  nativeBuildInputs = [ nodejs ];
  buildPhase = ''
    runHook preBuild
    cd console
    ${lib.concatStrings (lib.mapAttrsToList place (lib.filterAttrs fits lock.packages))}
    node build.mjs "$out"
    runHook postBuild
  '';
  dontInstall = true;
}
