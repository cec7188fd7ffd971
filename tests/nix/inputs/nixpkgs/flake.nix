# Stands for nixpkgs, so that our flake can be evaluated where there is none: as much of it as the flake asks for, and nothing is
# built. The tests put `lib` and the stubs of the folder above beside this file.
{
  outputs = _: import ./.;
}
