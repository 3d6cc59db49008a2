"""What all endpoints share on the wire: the operation table, fields, errors, events, lists and spellings.

Pure like the rooms: it sees parsed JSON and records, never a socket, an HTTP request or the wall clock.
"""
