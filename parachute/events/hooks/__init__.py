"""Commands of the user's own that answer events: `hooks.yaml`, `hooks/*`."""
