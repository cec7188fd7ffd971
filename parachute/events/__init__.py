"""Events and what they start: the event bus, hooks, the scheduler and the file watcher."""
