"""The pages of the documentation: Markdown that a code host shows, served below `/_simulator/docs/`.

`contents.yaml` has the pages in order, each with what it is for. Nothing here runs before the first page is asked for.
"""
