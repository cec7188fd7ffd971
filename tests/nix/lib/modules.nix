# Modules: options are declared, definitions are collected, and each option merges its own (nixpkgs' lib/modules.nix and options.nix).
lib:
let
  inherit (builtins) all any attrNames concatMap concatStringsSep elem filter foldl' hasAttr head isAttrs isFunction isList isString
    length map mapAttrs sort;

  # A name as it is written in a configuration, and definitions as they are shown in errors.
  isPlain = part: builtins.match "[a-zA-Z_][a-zA-Z0-9_'-]*|<.*>|\\*" part != null;
  showOption = loc: concatStringsSep "." (map (part: if isPlain part then part else ''"${part}"'') loc);
  showValue = value:
    if isFunction value then "<function>"
    else if isAttrs value && value.type or null == "derivation" then "<derivation>"
    else if isAttrs value && value ? _type then "<${value._type}>"
    else if isAttrs value then "{ ${concatStringsSep " " (map (name: "${name} = ${showValue value.${name}};") (attrNames value))} }"
    else if isList value then "[ ${concatStringsSep " " (map showValue value)} ]"
    else if isString value then builtins.toJSON value
    else if builtins.isPath value then toString value
    else builtins.toJSON value;
  showDefs = concatMapDefs: concatStringsSep "" (map (def: "\n- In `${toString def.file}': ${showValue def.value}") concatMapDefs);

  isType = type: value: isAttrs value && value._type or null == type;
  isOption = isType "option";

  # mkMerge and mkIf of a whole set become those of its attributes, so that a condition may depend on what other modules say.
  pushDown = value:
    let through = wrap: map (set: if isAttrs set && !(set ? _type) then mapAttrs (_: wrap) set else wrap set) (pushDown value.content);
    in
    if isType "merge" value then concatMap pushDown value.contents
    else if isType "if" value then through (lib.mkIf value.condition)
    else if isType "override" value then through (lib.mkOverride value.priority)
    else [ value ];

  discharge = value:
    if isType "merge" value then concatMap discharge value.contents
    else if isType "if" value then if value.condition then discharge value.content else [ ]
    else [ value ];

  strongest = defs:
    let
      priority = def: if isType "override" def.value then def.value.priority else 100;
      lowest = foldl' (found: def: if priority def < found then priority def else found) 9999 defs;
      bare = def: if isType "override" def.value then def // { value = def.value.content; } else def;
    in
    map bare (filter (def: priority def == lowest) defs);

  ordered = defs:
    let
      place = def: if isType "order" def.value then def.value.priority else 1000;
      bare = def: if isType "order" def.value then def // { value = def.value.content; } else def;
    in
    if any (def: isType "order" def.value) defs then map bare (sort (one: other: place one < place other) defs) else defs;

  settled = defs: ordered (strongest (concatMap (def: map (value: def // { inherit value; }) (discharge def.value)) defs));

  mergeDefinitions = loc: type: defs:
    let
      found = settled defs;
      wrong = filter (def: !type.check def.value) found;
    in
    rec {
      isDefined = found != [ ];
      value =
        if wrong != [ ] then
          throw "A definition for option `${showOption loc}' is not of type `${type.description}'. Definition values:${showDefs wrong}"
        else type.merge loc found;
    };

  # { file, imports, options, config, freeformType } of what may stand in a list of modules.
  load = arguments: module:
    let
      file = if builtins.isPath module || isString module then toString module else module._file or "<unknown-file>";
      content = if builtins.isPath module || isString module then import module else module;
      set = if isFunction content then content arguments else content;
      explicit = set ? config || set ? options;
    in
    {
      file = set._file or file;
      imports = set.imports or [ ];
      options = set.options or { };
      config = if explicit then set.config or { } else removeAttrs set [ "_file" "key" "imports" "freeformType" "_class" ];
      freeformType = set.freeformType or null;
    };

  # Modules and what they import, level by level, the last one first: the order in which nixpkgs puts lists together.
  closure = load: modules:
    let level = map load modules;
    in if modules == [ ] then [ ] else closure load (concatMap (module: module.imports) level) ++ lib.reverseList level;

  evalModules = { modules, specialArgs ? { }, prefix ? [ ], check ? true }:
    let
      # Modules see what is not checked yet: the check asks for every condition, which may ask for any value.
      loaded = closure (load ({ inherit lib config; inherit (merged) options; } // specialArgs)) modules;
      freeform = lib.last ([ null ] ++ filter (type: type != null) (map (module: module.freeformType) loaded));
      definitions = concatMap (module: map (value: { inherit (module) file; inherit value; }) (pushDown module.config)) loaded;
      declarations = map (module: module.options) loaded;
      merged = mergeTree prefix declarations definitions;
      extra = merged.undeclared;
      complain = throw "The option `${showOption (head extra).loc}' does not exist. Definition values:${showDefs [ (head extra) ]}";
      placed = def: def // { value = lib.setAttrByPath (lib.drop (length prefix) def.loc) def.value; };
      byFreeform = freeform.merge prefix (map placed extra);
      config =
        if freeform == null then merged.config
        else lib.recursiveUpdate (if extra == [ ] then freeform.merge prefix [ ] else byFreeform) merged.config;
      checked = value: if check && freeform == null && extra != [ ] then complain else value;
    in
    {
      config = checked config;
      options = checked merged.options;
    };

  # Options and definitions side by side, level by level.
  mergeTree = loc: declarations: definitions:
    let
      names = lib.unique (concatMap attrNames declarations);
      one = name:
        let
          here = loc ++ [ name ];
          declared = map (set: set.${name}) (filter (hasAttr name) declarations);
          has = def: isAttrs def.value && hasAttr name def.value;
          defs = map (def: def // { value = def.value.${name}; }) (filter has definitions);
        in
        if length (filter isOption declared) > 1 then throw "The option `${showOption here}' is already declared."
        else if isOption (head declared) then { option = evaluated here (head declared) defs; undeclared = [ ]; }
        else
          let inner = mergeTree here declared (concatMap (def: map (value: def // { inherit value; }) (pushDown def.value)) defs);
          in { inherit (inner) config options undeclared; };
      parts = lib.genAttrs names one;
      notDeclared = def: filter (name: !(elem name names)) (attrNames def.value);
      unknownOf = def: map (name: { inherit (def) file; loc = loc ++ [ name ]; value = def.value.${name}; }) (notDeclared def);
      unknown = concatMap unknownOf definitions;
      # What is conditional and does not hold was never said.
      said = filter (def: discharge def.value != [ ]) unknown;
    in
    {
      config = mapAttrs (_: part: if part ? option then part.option.value else part.config) parts;
      options = mapAttrs (_: part: part.option or part.options) parts;
      undeclared = said ++ concatMap (name: parts.${name}.undeclared) names;
    };

  evaluated = loc: option: defs:
    let
      withDefault = defs ++ lib.optional (option ? default) { file = "default"; value = lib.mkOverride 1500 option.default; };
      merged = mergeDefinitions loc option.type withDefault;
      value =
        if merged.isDefined then merged.value
        else option.type.emptyValue.value or (throw "The option `${showOption loc}' was accessed but has no value defined. Try setting the option.");
    in
    option // {
      inherit loc;
      isDefined = merged.isDefined;
      value = if option ? apply then option.apply value else value;
    };
in
rec {
  inherit evalModules isOption mergeDefinitions pushDown showDefs showOption showValue isType;
  mkOption = options: options // { _type = "option"; };
  mkEnableOption = what: mkOption {
    type = lib.types.bool;
    default = false;
    example = true;
    description = "Whether to enable ${what}.";
  };
  mkIf = condition: content: { _type = "if"; inherit condition content; };
  mkMerge = contents: { _type = "merge"; inherit contents; };
  mkOverride = priority: content: { _type = "override"; inherit priority content; };
  mkForce = mkOverride 50;
  mkDefault = mkOverride 1000;
  mkOrder = priority: content: { _type = "order"; inherit priority content; };
  mkAfter = mkOrder 1500;
  mkOptionType = type: {
    check = _: true;
    merge = mergeOne;
    description = type.name;
    isPlain = true;
    getSubOptions = _: { };
  } // type // { _type = "option-type"; };
  literalExpression = text: { _type = "literalExpression"; inherit text; };
  literalMD = text: { _type = "literalMD"; inherit text; };
  drop = count: list:
    builtins.genList (n: builtins.elemAt list (n + count)) (if length list > count then length list - count else 0);
  mergeOne = loc: defs:
    if length defs == 1 then (head defs).value
    else throw "The option `${showOption loc}' is defined multiple times while it's expected to be unique.${showDefs defs}";
  mergeEqual = loc: defs:
    if all (def: def.value == (head defs).value) defs then (head defs).value
    else throw "The option `${showOption loc}' has conflicting definition values:${showDefs defs}";
}
