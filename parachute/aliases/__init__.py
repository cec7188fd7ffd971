"""Former and short names that users and installed units have stored; Python looks here after the wings.

`python -m parachute.serve` is in units of systemd that an older version installed; `python -m parachute.hooks.defaults.NAME`
and `python -m parachute.hooks.activity_summary` are what `hooks.yaml` says.
"""
