"""What connectors handed over: stored before anything is done with it, each once, and only from those who may talk to a bot"""
