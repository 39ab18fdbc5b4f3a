"""What the device did, by line: from the runtime's metrics and its debug log, with the recorder's lines in it."""
