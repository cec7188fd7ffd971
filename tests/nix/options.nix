# Options as a list for documentation, those of submodules below their place; internal ones are left out.
{ lib, options }:
let
  isOption = value: value._type or null == "option";

  text = value:
    if value._type or null == "literalExpression" then value.text
    else builtins.toJSON value;

  one = option:
    let inner = option.type.getSubOptions option.loc;
    in
    lib.optional (!(option.internal or false)) {
      name = lib.concatStringsSep "." option.loc;
      type = option.type.description;
      description = option.description or null;
      example = if option ? example then text option.example else null;
      default =
        if option ? defaultText then text option.defaultText
        else if option ? default then text option.default
        else null;
    }
    ++ walk (removeAttrs inner [ "_module" ]);

  walk = set: lib.concatMap (value: if isOption value then one value else walk value) (lib.attrValues set);
in
walk options
