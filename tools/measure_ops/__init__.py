"""Measures every op of torch's OpInfo and ModuleInfo databases on an XLA device and writes the op table."""
