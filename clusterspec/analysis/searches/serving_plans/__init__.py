"""Search of serving plans: engines that are legal, how many of them, and the requests in flight."""
