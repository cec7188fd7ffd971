"""How other devices find this computer without being told its address: its name and its service on the local network."""
