import torch_xla

torch_xla.sync()
