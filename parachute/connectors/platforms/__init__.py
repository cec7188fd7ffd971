"""Interface of messengers: messages in, messages out; a file for each platform"""
