"""Settings for devices: every one with its description, changed as `parachute config` does"""
