"""The documentation pages. They are Markdown files that a code host can display, served below `/_simulator/docs/`.
`contents.yaml` lists the pages in order, each with its purpose. The pages are loaded when the first one is requested.
"""
