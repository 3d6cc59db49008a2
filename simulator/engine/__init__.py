"""The engine: what simulating any HTTP service takes. It never imports a provider."""
