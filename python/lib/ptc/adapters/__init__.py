"""Adapters to other libraries. Each module imports its library, so import only what you use."""
