"""Configuration of bots: `~/.parachute/bots.yaml`, and their tokens apart from it"""
