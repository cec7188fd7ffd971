"""HTTP connections of peers that nobody trusts: limits, bodies, event streams and errors."""
