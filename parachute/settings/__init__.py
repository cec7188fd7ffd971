"""Where things are and how they are set: `~/.parachute` and `config.yaml`."""
