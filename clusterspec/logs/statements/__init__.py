"""What lines of programs state: why a run stopped, is slow or waits."""
