"""The engine, which can simulate any HTTP service. It never imports a provider."""
