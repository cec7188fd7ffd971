"""The agent runner, which starts the agent's program inside a sandbox, and the wrapper through which the SDK reaches it.

It imports nothing outside the standard library, as it lives in sandboxes where nothing else is; so `checks.identity` follows no link
by itself, without the opener of `parachute.base`.
"""
