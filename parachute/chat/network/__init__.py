"""The network of conversations: what their sandboxes reach, and the hosts that wait for the owner's word."""
