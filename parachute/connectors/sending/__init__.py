"""Files that agents send to their chats: read inside of their sandboxes, and kept until they are delivered"""
