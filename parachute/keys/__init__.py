"""Who a caller is and what it may do: keys, their scopes and the command line's own token."""
