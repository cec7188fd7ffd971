# The NixOS module `services.parachute`, one file per concern, in the order in which one reads them.
{
  imports = [
    ./service.nix # whether it runs, as which package
    ./user.nix # as whom
    ./settings.nix # config.yaml: the model, the vault, everything else
    ./network.nix # who reaches it: address, firewall, name
    ./credentials.nix # the model's key
    ./sandbox.nix # what shuts agents in
    ./installed.nix # modules of the computer
    ./workspaces.nix
    ./declared.nix # all of it in one file that the computer reads
    ./units.nix # the processes
    ./update.nix # from one version to the next
    ./backup.nix
    ./first-boot.nix
    ./machine.nix # a machine that does nothing else: memory cards, watchdog, clock
  ];
}
