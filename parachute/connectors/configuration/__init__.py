"""What bots do: `~/.parachute/bots.yaml`, and their tokens apart from it"""
