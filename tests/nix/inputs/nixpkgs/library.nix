# What packages need of nixpkgs' lib, beside what modules do.
lib: {
  importTOML = file: builtins.fromTOML (builtins.readFile file);
  splitString = separator: text: builtins.filter builtins.isString (builtins.split (lib.escapeRegex separator) text);
  getAttrFromPath = path: set: lib.attrByPath path (throw "cannot find attribute `${lib.concatStringsSep "." path}'") set;
  concatMapAttrs = f: set: lib.foldl' (found: name: found // f name set.${name}) { } (builtins.attrNames set);
  fileset = {
    # Every path has to exist, as in nixpkgs.
    unions = paths: map (path: if builtins.pathExists path then path else throw "lib.fileset: ${toString path} does not exist") paths;
    toSource = { root, fileset }: builtins.path {
      path = root;
      name = "source";
      filter = file: _: builtins.any (path: lib.hasPrefix (toString path) file || lib.hasPrefix "${file}/" (toString path)) fileset;
    };
  };
  concatStrings = builtins.concatStringsSep "";
  strings = lib.strings or { } // {
    sanitizeDerivationName = name: builtins.concatStringsSep "-" (builtins.filter builtins.isString (builtins.split "[^A-Za-z0-9+._?=-]+" name));
  };
  fetchers.proxyImpureEnvVars = [ "http_proxy" "https_proxy" ];
  licenses = {
    agpl3Plus.free = true;
    mit.free = true;
    unfree.free = false;
  };
  sourceTypes.binaryNativeCode.isSource = false;
}
