"""The one way to the internet for modules and agents: a proxy with a list of hosts for each of them."""
