"""Files of agents that work once a day, and which of them a module brings."""
