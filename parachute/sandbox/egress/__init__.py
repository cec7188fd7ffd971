"""The egress proxy: the one way to the internet for modules and agents, with a list of hosts for each."""
