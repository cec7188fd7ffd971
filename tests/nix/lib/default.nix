# A small part of nixpkgs' lib, written for these tests: with it the modules are evaluated on machines that have no nixpkgs.
# Names, arguments and results are those of nixpkgs; `NIXPKGS_LIB=/path` runs the same tests with the real one.
let
  inherit (builtins) attrNames concatLists elem filter genList hasAttr isAttrs isList length;

  attrs = rec {
    nameValuePair = name: value: { inherit name value; };
    mapAttrs' = f: set: builtins.listToAttrs (map (name: f name set.${name}) (attrNames set));
    mapAttrsToList = f: set: map (name: f name set.${name}) (attrNames set);
    filterAttrs = keep: set:
      builtins.listToAttrs (map (name: nameValuePair name set.${name}) (filter (name: keep name set.${name}) (attrNames set)));
    genAttrs = names: f: builtins.listToAttrs (map (name: nameValuePair name (f name)) names);
    optionalAttrs = condition: set: if condition then set else { };
    recursiveUpdate = old: new:
      let replaced = name: value: if isAttrs value && isAttrs (old.${name} or null) then recursiveUpdate old.${name} value else value;
      in old // builtins.mapAttrs replaced new;
    attrByPath = path: default: set:
      if path == [ ] then set
      else if isAttrs set && hasAttr (builtins.head path) set then attrByPath (builtins.tail path) default set.${builtins.head path}
      else default;
    hasAttrByPath = path: set:
      path == [ ] || (isAttrs set && hasAttr (builtins.head path) set && hasAttrByPath (builtins.tail path) set.${builtins.head path});
    setAttrByPath = path: value: if path == [ ] then value else { ${builtins.head path} = setAttrByPath (builtins.tail path) value; };
    isDerivation = value: value.type or null == "derivation";
    getExe = package: "${package}/bin/${package.meta.mainProgram or package.pname or package.name}";
    getName = package: package.pname or package.name;
  };

  lists = rec {
    inherit (builtins) head tail map;
    optional = condition: value: if condition then [ value ] else [ ];
    optionals = condition: values: if condition then values else [ ];
    last = list: builtins.elemAt list (length list - 1);
    reverseList = list: genList (n: builtins.elemAt list (length list - 1 - n)) (length list);
    init = list: genList (builtins.elemAt list) (length list - 1);
    flatten = value: if isList value then builtins.concatMap flatten value else [ value ];
    toList = value: if isList value then value else [ value ];
    unique = builtins.foldl' (found: value: if elem value found then found else found ++ [ value ]) [ ];
    foldl' = builtins.foldl';
    imap1 = f: list: genList (n: f (n + 1) (builtins.elemAt list n)) (length list);
  };

  strings = rec {
    optionalString = condition: text: if condition then text else "";
    concatMapStringsSep = separator: f: list: builtins.concatStringsSep separator (map f list);
    concatMapStrings = concatMapStringsSep "";
    hasPrefix = prefix: text: builtins.substring 0 (builtins.stringLength prefix) text == prefix;
    hasSuffix = suffix: text:
      let rest = builtins.stringLength text - builtins.stringLength suffix;
      in rest >= 0 && builtins.substring rest (-1) text == suffix;
    hasInfix = infix: text: builtins.length (builtins.split (escapeRegex infix) text) > 1;
    removeSuffix = suffix: text:
      if hasSuffix suffix text then builtins.substring 0 (builtins.stringLength text - builtins.stringLength suffix) text else text;
    escapeRegex = builtins.replaceStrings specials (map (character: "\\" + character) specials);
    escapeShellArg = value:
      let text = toString value;
      in if builtins.match "[[:alnum:],._+:@%/-]+" text != null then text else "'${builtins.replaceStrings [ "'" ] [ "'\\''" ] text}'";
    escapeXML = builtins.replaceStrings [ "\"" "'" "<" ">" "&" ] [ "&quot;" "&apos;" "&lt;" "&gt;" "&amp;" ];
    makeBinPath = concatMapStringsSep ":" (place: "${place}/bin");
    makeSearchPath = folder: concatMapStringsSep ":" (place: "${place}/${folder}");
  };
  specials = [ "\\" "^" "$" "." "|" "?" "*" "+" "(" ")" "[" "{" "}" ];

  lib = attrs // lists // strings // import ./modules.nix lib // {
    inherit (builtins) all any attrNames attrValues concatLists concatMap concatStringsSep elem elemAt filter genList hasAttr head isAttrs
      isBool isFunction isInt isList isString length listToAttrs mapAttrs pathExists readFile removeAttrs replaceStrings stringLength
      substring tail toJSON toString trace;
    inherit attrs lists strings;
    types = import ./types.nix lib;
    id = value: value;
    importJSON = file: builtins.fromJSON (builtins.readFile file);
    licenses = { };
  };
in
lib
