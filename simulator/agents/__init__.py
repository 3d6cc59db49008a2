"""What coding agents use: the tools of `rampsim mcp`, each a function that answers short, and the server around them.

`session` is what the tools know: a server, the world that is meant, tokens. `answers` keeps what they say small,
`inputs` has what they take, and `toolbox` the list of them. `serving` alone knows the library of the extra `mcp`.
"""
