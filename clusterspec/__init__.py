"""clusterspec checks, estimates and reports on AI cluster designs."""

__version__ = "0.1.0"
