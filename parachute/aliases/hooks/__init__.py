"""The hooks that come with the computer, under the name that `hooks.yaml` has for them."""

from parachute.events import hooks

__path__ = hooks.__path__
