"""The scenario language: parser, models and checks."""
