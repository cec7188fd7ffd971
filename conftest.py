"""What hypothesis tries: the same few examples in each run, so that no chance decides whether a change lands.

`make test ARGS=--hypothesis-profile=long` looks for others.
"""

from hypothesis import HealthCheck, settings

# On a loaded machine neither an example nor their making has a time.
_CALM = settings(deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("few", _CALM, max_examples=30, derandomize=True)
settings.register_profile("long", _CALM, max_examples=1_000)
settings.load_profile("few")
