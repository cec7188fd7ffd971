"""What waits for the owner, told in the owner's own chat and answered there by buttons"""
