"""What chats are still to be told: it survives restarts, is tried again, and the owner sees what could not be delivered"""
