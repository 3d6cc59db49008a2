"""Tools for coding agents: the tool functions for `rampsim mcp`, which return short responses, and the MCP server.

`session` contains the server, the current world and tokens. `answers` limits the size of responses, `inputs` declares
the parameters, and `toolbox` lists the tools. Only `serving` imports the library that the extra `mcp` installs.
"""
