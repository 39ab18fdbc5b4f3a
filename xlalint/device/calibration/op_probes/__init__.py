"""Measures every op of torch's OpInfo and ModuleInfo databases on an XLA device, and makes rows of the op table of it.

All of it imports torch and runs in children of the device worker only; the linter's side is
``xlalint.device.calibration.op_measurement``, which hands them their work by ``service``.
"""
