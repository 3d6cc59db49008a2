"""Tools for coding agents: the functions of `rampsim mcp` with short responses, and the MCP server.

`session` holds the server, the current world and tokens. `answers` limits the size of responses, `inputs` declares the
parameters, and `toolbox` lists the tools. Only `serving` imports the library of the extra `mcp`.
"""
