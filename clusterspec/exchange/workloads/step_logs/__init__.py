"""Steps of training that a log prints."""
