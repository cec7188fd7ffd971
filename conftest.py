"""The same few examples of hypothesis and the same time of day in each run, so that no chance decides whether a change lands.

`make test ARGS=--hypothesis-profile=long` looks for others.
"""

import os
import time

from hypothesis import HealthCheck, settings

from tests.support.noon import around_noon

pytest_plugins = ["tests.support.kinds", "tests.support.own_data", "tests.support.own_network"]

# On a loaded machine neither an example nor their making has a time.
_CALM = settings(deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("few", _CALM, max_examples=30, derandomize=True)
settings.register_profile("long", _CALM, max_examples=1_000)
settings.load_profile("few")

# No day ends while tests run, and nothing that runs at night is due.
os.environ["TZ"] = around_noon()
time.tzset()
