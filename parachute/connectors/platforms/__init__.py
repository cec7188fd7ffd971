"""What a messenger is to the computer: messages in, messages out; a file for each platform"""
