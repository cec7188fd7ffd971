"""The agent runner, which starts the agent's program inside a sandbox, and the wrapper through which the SDK reaches it.

It imports nothing outside the standard library: it lives in boxes where nothing else is.
"""
