"""The command line: the only print, the only exit."""
