"""Crashes and held work of an application that runs in the tests' process. The application is traced line by line."""
