"""`config.yaml` and the state directory `~/.parachute`."""
