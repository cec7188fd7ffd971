# The types that the modules use, with the words and the ways of merging of nixpkgs' lib/types.nix.
lib:
let
  inherit (builtins) all attrNames concatMap concatStringsSep elem filter head isAttrs isBool isFloat isFunction isInt isList isString
    length map mapAttrs match;
  inherit (lib) mergeDefinitions mergeEqual mergeOne mkOptionType showOption;

  isNumber = value: isInt value || isFloat value;
  isPlace = value: builtins.isPath value || isString value || (isAttrs value && value ? outPath);
  isPath = value: isPlace value && match "/.*" (toString value) != null;
  isPackage = value: lib.isDerivation value || (isPath value && match "/nix/store/.+" (toString value) != null);

  simple = name: description: check: mkOptionType { inherit name description check; merge = mergeEqual; };
  floating = simple "float" "floating point number" isFloat;
  range = lowest: highest: "between ${toString lowest} and ${toString highest} (both inclusive)";
  within = lowest: highest: value: value >= lowest && value <= highest;

  phrase = type: if type.isPlain then type.description else "(${type.description})";

  types = rec {
    bool = simple "bool" "boolean" isBool;
    int = simple "int" "signed integer" isInt;
    float = floating;
    str = simple "str" "string" isString;
    nonEmptyStr = simple "nonEmptyStr" "non-empty string" (value: isString value && match "[ \t\n]*" value == null);
    strMatching = pattern:
      simple "strMatching" "string matching the pattern ${pattern}" (value: isString value && match pattern value != null);
    path = simple "path" "absolute path" isPath;
    package = mkOptionType {
      name = "package";
      check = isPackage;
    };
    raw = mkOptionType {
      name = "raw";
      description = "raw value";
    };
    unspecified = mkOptionType {
      name = "unspecified";
      description = "unspecified value";
      merge = loc: defs: if length defs == 1 then (head defs).value else mergeEqual loc defs;
    };
    functionTo = result: mkOptionType {
      name = "functionTo";
      description = "function that evaluates to a(n) ${result.description}";
      check = isFunction;
    };
    separatedString = separator: mkOptionType {
      name = "separatedString";
      description = "strings concatenated with ${builtins.toJSON separator}";
      check = isString;
      merge = _: defs: concatStringsSep separator (map (def: def.value) defs);
    };
    lines = separatedString "\n";

    ints = {
      between = lowest: highest: simple "intBetween" "integer ${range lowest highest}" (value: isInt value && within lowest highest value);
      unsigned = simple "unsignedInt" "unsigned integer, meaning >=0" (value: isInt value && value >= 0);
      positive = simple "positiveInt" "positive integer, meaning >0" (value: isInt value && value > 0);
      u16 = simple "unsignedInt16" "16 bit unsigned integer; ${range 0 65535}" (value: isInt value && within 0 65535 value);
    };
    port = ints.u16;
    number = either int float;
    numbers = {
      between = lowest: highest:
        simple "numberBetween" "integer or floating point number ${range lowest highest}"
          (value: isNumber value && within lowest highest value);
      positive = simple "numberPositive" "positive integer or floating point number, meaning >0" (value: isNumber value && value > 0);
    };

    enum = values: simple "enum" "one of ${concatStringsSep ", " (map lib.showValue values)}" (value: elem value values);
    nullOr = type: mkOptionType {
      name = "nullOr";
      description = "null or ${phrase type}";
      check = value: value == null || type.check value;
      merge = loc: defs:
        let nulls = filter (def: def.value == null) defs;
        in
        if nulls == [ ] then type.merge loc defs
        else if length nulls == length defs then null
        else throw "The option `${showOption loc}' is defined both null and not null, in `${toString (head nulls).file}'.";
      inherit (type) getSubOptions;
      emptyValue.value = null;
    };
    either = one: other: mkOptionType {
      name = "either";
      description = "${phrase one} or ${phrase other}";
      check = value: one.check value || other.check value;
      merge = loc: defs:
        if all (def: one.check def.value) defs then one.merge loc defs
        else if all (def: other.check def.value) defs then other.merge loc defs
        else mergeOne loc defs;
    };
    oneOf = several: lib.foldl' either (head several) (builtins.tail several);
    listOf = type: mkOptionType {
      name = "listOf";
      isPlain = false;
      description = "list of ${phrase type}";
      check = isList;
      merge = loc: defs:
        let
          place = n: loc ++ [ "[definition ${toString n}-entry]" ];
          entry = def: n: value: mergeDefinitions (place n) type [ { inherit (def) file; inherit value; } ];
          entries = def: lib.imap1 (entry def) def.value;
        in
        map (each: each.value) (filter (each: each.isDefined) (concatMap entries defs));
      getSubOptions = prefix: type.getSubOptions (prefix ++ [ "*" ]);
      emptyValue.value = [ ];
    };
    attrsOf = type: mkOptionType {
      name = "attrsOf";
      isPlain = false;
      description = "attribute set of ${phrase type}";
      check = isAttrs;
      merge = loc: defs:
        let
          sets = concatMap (def: map (value: { inherit (def) file; inherit value; }) (lib.pushDown def.value)) defs;
          names = lib.unique (concatMap (def: attrNames def.value) sets);
          of = name: map (def: { inherit (def) file; value = def.value.${name}; }) (filter (def: def.value ? ${name}) sets);
          merged = lib.genAttrs names (name: mergeDefinitions (loc ++ [ name ]) type (of name));
        in
        mapAttrs (_: each: each.value) (lib.filterAttrs (_: each: each.isDefined) merged);
      getSubOptions = prefix: type.getSubOptions (prefix ++ [ "<name>" ]);
      emptyValue.value = { };
    };
    attrs = mkOptionType {
      name = "attrs";
      description = "attribute set";
      check = isAttrs;
      merge = _: lib.foldl' (found: def: found // def.value) { };
      emptyValue.value = { };
    };
    anything = mkOptionType {
      name = "anything";
      merge = loc: defs:
        if all (def: isAttrs def.value && !(lib.isDerivation def.value)) defs then (attrsOf anything).merge loc defs
        else mergeEqual loc defs;
    };
    submodule = module:
      let
        evaluate = loc: extra: lib.evalModules {
          modules = lib.toList module ++ extra;
          prefix = loc;
          specialArgs.name = lib.last loc;
        };
        asModule = def: if isAttrs def.value then { _file = def.file; config = def.value; } else def.value;
      in
      mkOptionType {
        name = "submodule";
        check = value: isAttrs value || isFunction value || builtins.isPath value;
        merge = loc: defs: (evaluate loc (map asModule defs)).config;
        getSubOptions = prefix: (evaluate prefix [ ]).options;
        emptyValue.value = { };
      };
  };
in
types
