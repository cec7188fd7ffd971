# The computer for this machine alone; everything else is asked for while it runs.
{
  services.parachute.enable = true;
}
