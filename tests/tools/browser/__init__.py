"""The pages in a browser: a person's clicks and keys in Debian's Chromium, what goes wrong there, and how it looks.

`make browser` runs them ([README](README.md)).
"""
