"""Files of agents that work once a day: what they say, and which of them a module brings."""
