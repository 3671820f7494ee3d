"""Subcommands about the bundled programs and this machine."""
