"""The process that reads one document: the file is its standard input, the text its standard output.

It imports nothing but Python's own library, and PDFium for PDF files. Pages and chapters are separated by form feeds.
"""
