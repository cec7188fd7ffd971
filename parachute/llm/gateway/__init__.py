"""The model gateway: model endpoints of agents, credentials, providers, spending."""
