"""Updates from connectors: stored before they are processed, each once, and only from those who may talk to a bot"""
