"""What happened, told to whoever wants to know."""
