"""Tools for coding agents: `rampsim mcp`. Only `serving` imports the library that the extra `mcp` installs."""
