"""The pages in Debian's Chromium: clicks and keys, errors in the pages, and their appearance.

`make browser` runs these tests ([README](README.md)).
"""
