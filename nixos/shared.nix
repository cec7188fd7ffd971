# What NixOS and home-manager have in common; where it goes on a machine, system.nix and home.nix say.
{
  imports = [
    ./service.nix # whether it runs, as which package
    ./settings.nix # config.yaml: the model, the vault, everything else
    ./address.nix # where it listens, and who needs a key
    ./credentials.nix # the model's key
    ./installed.nix # modules of the computer
    ./workspaces.nix
    ./declared.nix # all of it in one file that the computer reads
    ./units.nix # the processes
    ./backup.nix
  ];
}
