# Apps on the local network reach it as parachute.local, with a key.
{
  services.parachute = {
    enable = true;
    lan.enable = true;
  };
}
