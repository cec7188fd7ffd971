# The NixOS module `services.parachute`, one file per concern, in the order in which one reads them.
{
  imports = [
    ./shared.nix # what is the same with home-manager: package, settings, modules, processes
    ./user.nix # as whom
    ./network.nix # how others find and reach it: firewall, name
    ./sandbox.nix # what shuts agents in
    ./system.nix # units and files of the machine
    ./update.nix # from one version to the next
    ./first-boot.nix
    ./machine.nix # a machine that does nothing else: memory cards, watchdog, clock
  ];
}
