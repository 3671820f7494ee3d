"""Commands for the bundled programs and this machine."""
