"""Setting a new computer up: what the console asks first, and the end of it"""
