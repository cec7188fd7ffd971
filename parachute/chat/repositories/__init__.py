"""The repositories of conversations: which ones they fetch from and push to, and those that wait for the owner's word."""
