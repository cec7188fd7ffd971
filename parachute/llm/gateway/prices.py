"""The prices of Anthropic, for the daily spending limit; an estimate, the invoice is Anthropic's.

US dollars per million tokens of input and output, from the price list of November 2026 (docs.claude.com, "Pricing").
Reading the cache costs a tenth of input, writing it for an hour twice as much. A thousand web searches are ten
dollars.
"""

from parachute.llm.gateway.models import Usage

_PRICES = {
    "haiku": (1.0, 5.0),
    "sonnet": (3.0, 15.0),
    "3-opus": (15.0, 75.0),
    "opus-4-0": (15.0, 75.0),
    "opus-4-1": (15.0, 75.0),
    "opus-4-2025": (15.0, 75.0),
    "opus": (5.0, 25.0),
}
_SEARCH = 0.01

BYTES_OF_TOKEN = 3
"""Fewer than there are in most texts, so that an estimate is rather too high."""

_UNKNOWN = (15.0, 75.0)
"""For models that the table does not know, the highest price that was ever asked: the limit errs on the safe side."""


def dollars(model: str, usage: Usage) -> float:
    """The price of one request."""
    input_price, output_price = next((price for family, price in _PRICES.items() if family in model), _UNKNOWN)
    input_tokens = usage.input_tokens + 0.1 * usage.cache_read_tokens + 2 * usage.cache_write_tokens
    return (input_tokens * input_price + usage.output_tokens * output_price) / 1_000_000 + usage.searches * _SEARCH


def subscription_tokens(usage: Usage) -> int:
    """Return the tokens that a request takes of a subscription: those read from the cache are not counted."""
    return usage.input_tokens + usage.cache_write_tokens + usage.output_tokens


def estimate(size: int, output_tokens: int) -> Usage:
    """The most that a request of this size may use: all its input is new to the cache."""
    return Usage(requests=1, cache_write_tokens=size // BYTES_OF_TOKEN, output_tokens=output_tokens)
