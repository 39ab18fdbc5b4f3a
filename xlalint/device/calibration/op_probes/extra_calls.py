"""Calls that torch's databases lack, and the names that expressions and probes may use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

EXTRAS: Mapping[str, tuple[str, ...]] = {
    "torch.nn.init.trunc_normal_": ("torch.nn.init.trunc_normal_(torch.empty_like(x))",),
    "torch.nn.init.normal_": ("torch.nn.init.normal_(torch.empty_like(x))",),
    "torch.nn.init.kaiming_uniform_": ("torch.nn.init.kaiming_uniform_(torch.empty_like(x))",),
    "torch.nn.init.xavier_uniform_": ("torch.nn.init.xavier_uniform_(torch.empty_like(x))",),
    "torch.nn.init.orthogonal_": ("torch.nn.init.orthogonal_(torch.empty_like(x))",),
    "torch.nn.utils.clip_grad_norm_": ("torch.nn.utils.clip_grad_norm_([p], 1.0)",),
    "torch.nn.utils.clip_grad_value_": ("torch.nn.utils.clip_grad_value_([p], 1.0)",),
    "torch.nn.utils.parameters_to_vector": ("torch.nn.utils.parameters_to_vector([x, v])",),
    "torch.nn.utils.rnn.pad_sequence": ("torch.nn.utils.rnn.pad_sequence([v, v[:4]])",),
    "torch.nn.utils.rnn.pack_padded_sequence": (
        "torch.nn.utils.rnn.pack_padded_sequence(s, [3, 2]).data",
        "torch.nn.utils.rnn.pack_padded_sequence(s, [8, 2, 1], enforce_sorted=False).data",
    ),
    "torch.nn.functional.fold": ("F.fold(torch.ones(2, 12, 16, device=x.device) * x.sum(), (8, 8), 2, stride=2)",),
    "torch.nn.functional.gumbel_softmax": ("F.gumbel_softmax(x)", "F.gumbel_softmax(x, hard=True)"),
    "torch.nn.functional.multi_head_attention_forward": (
        "F.multi_head_attention_forward(s, s, s, 8, 2, w, None, None, None, 0.0, e, None)",
    ),
    "torch.nn.functional.hardtanh_": ("F.hardtanh_(x * 1)",),
    "torch.Tensor.random_": ("torch.empty_like(x).random_(0, 5)",),
    "torch.Tensor.bernoulli_": ("torch.empty_like(x).bernoulli_(0.5)",),
    "torch.Tensor.index_fill_": ("(x * 1).index_fill_(0, i, 1.0)",),
    "torch.Tensor.masked_fill_": ("(x * 1).masked_fill_(m, 1.0)",),
    "torch.Tensor.fill_diagonal_": ("(e * 1).fill_diagonal_(0.0)",),
    "torch.Tensor.erfinv_": ("(x * 0.1).erfinv_()",),
    "torch.Tensor.is_nonzero": ("t.is_nonzero()",),
    "torch.is_nonzero": ("torch.is_nonzero(t)",),
    "torch.Tensor.tolist": ("x.detach().tolist()",),
    "torch.randperm": ("torch.randperm(8, device=x.device)",),
    "torch.rand": ("torch.rand(4, device=x.device)",),
    "torch.poisson": ("torch.poisson(x.exp())",),
    "torch.binomial": ("torch.binomial(x.exp().round(), x.sigmoid())",),
    "torch.chain_matmul": ("torch.chain_matmul(x, e, e)",),
    "torch.nn.utils.parametrizations.weight_norm": (
        "torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(8, 8).to(x.device))(x)",
    ),
    "torch.nn.utils.weight_norm": ("torch.nn.utils.weight_norm(torch.nn.Linear(8, 8).to(x.device))(x)",),
    "torch.nn.utils.parametrizations.spectral_norm": (
        "torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(8, 8).to(x.device))(x)",
    ),
    "torch.nn.utils.spectral_norm": ("torch.nn.utils.spectral_norm(torch.nn.Linear(8, 8).to(x.device))(x)",),
    "torch.nn.EmbeddingBag": (
        "torch.nn.EmbeddingBag(5, 3).to(x.device)(i, torch.zeros(1, dtype=torch.long, device=x.device))",
    ),
    "torch.nn.Upsample": ("torch.nn.Upsample(scale_factor=2)(im)",),
    "torch.nn.Dropout": ("torch.nn.Dropout(0.5)(x)",),
    "torch.nn.Dropout2d": ("torch.nn.Dropout2d(0.5)(im)",),
    "torch.nn.AlphaDropout": ("torch.nn.AlphaDropout(0.5)(x)",),
    "torch.nn.PixelShuffle": ("torch.nn.PixelShuffle(2)(torch.cat([im, im[:, :1]], 1))",),
    "torch.nn.PixelUnshuffle": ("torch.nn.PixelUnshuffle(2)(im)",),
    "torch.nn.Flatten": ("torch.nn.Flatten()(im)",),
    "torch.nn.Unfold": ("torch.nn.Unfold(2)(im)",),
    "torch.nn.Fold": ("torch.nn.Fold((8, 8), 2, stride=2)(torch.ones(2, 12, 16, device=x.device) * x.sum())",),
    "torch.nn.TripletMarginLoss": ("torch.nn.TripletMarginLoss()(x, x + 1, x * 2)",),
    "torch.nn.CosineSimilarity": ("torch.nn.CosineSimilarity()(x, x + 1)",),
    "torch.nn.ChannelShuffle": ("torch.nn.ChannelShuffle(3)(im)",),
    "torch.nn.RReLU": ("torch.nn.RReLU()(x)",),
    "torch.nn.Hardsigmoid": ("torch.nn.Hardsigmoid()(x)",),
    "torch.nn.Identity": ("torch.nn.Identity()(x)",),
    "torch.nn.UpsamplingBilinear2d": ("torch.nn.UpsamplingBilinear2d(scale_factor=2)(im)",),
    "torch.nn.UpsamplingNearest2d": ("torch.nn.UpsamplingNearest2d(scale_factor=2)(im)",),
    "torch.nn.PairwiseDistance": ("torch.nn.PairwiseDistance()(x, x + 1)",),
    "torch.nn.FractionalMaxPool2d": ("torch.nn.FractionalMaxPool2d(3, output_size=4)(im)",),
    "torch.nn.MaxUnpool2d": ("torch.nn.MaxUnpool2d(2)(*F.max_pool2d(im, 2, return_indices=True))",),
    "torch.nn.Dropout1d": ("torch.nn.Dropout1d(0.5)(q)",),
    "torch.nn.Dropout3d": ("torch.nn.Dropout3d(0.5)(vol)",),
    "torch.nn.AdaptiveLogSoftmaxWithLoss": (
        "torch.nn.AdaptiveLogSoftmaxWithLoss(8, 6, [2, 4]).to(x.device)(x, i).loss",
    ),
    "torch.nn.functional.affine_grid": ("F.affine_grid(im[:, :2, 0, :3], (2, 3, 8, 8))",),
    "torch.nn.functional.lp_pool2d": ("F.lp_pool2d(im, 2, 2)",),
    "torch.nn.functional.upsample": ("F.upsample(im, scale_factor=2, mode='bilinear')",),
    "torch.slogdet": ("torch.slogdet(e)",),
    "torch.nuclear_norm": ("torch.nuclear_norm(e)",),
    "torch.vander": ("torch.vander(v)",),
    "torch.hann_window": ("torch.hann_window(8, device=x.device)",),
    "torch.hamming_window": ("torch.hamming_window(8, device=x.device)",),
    "torch.blackman_window": ("torch.blackman_window(8, device=x.device)",),
    "torch.bartlett_window": ("torch.bartlett_window(8, device=x.device)",),
    "torch.kaiser_window": ("torch.kaiser_window(8, device=x.device)",),
    "torch.range": ("torch.range(0, 5, device=x.device)",),
    "torch.Tensor.detach": ("(x * 2).detach() * 3",),
    "torch.Tensor.fill_": ("torch.empty_like(x).fill_(1.0)", "torch.empty_like(x).fill_(t)"),
    "torch.Tensor.copy_": ("x.new_zeros(4, 8).copy_(x) * 2",),
    "torch.Tensor.normal_": ("torch.empty_like(x).normal_()",),
    "torch.Tensor.type_as": ("x.type_as(v)",),
    "torch.Tensor.new_tensor": ("x.new_tensor([1.0, 2.0])",),
}
"""By the name that users write: expressions over ``namespace``."""


def namespace(device: str, grad: bool = False) -> dict[str, Any]:
    """What an expression may use, on ``device``; with ``grad`` the float tensors record gradients.

    ``x`` float [4, 8], ``v`` float [8], ``e`` float [8, 8], ``w`` float [24, 8], ``s`` float [3, 2, 8] (a
    sequence), ``q`` float [2, 3, 8], ``im`` float [2, 3, 8, 8], ``vol`` float [2, 3, 4, 8, 8], ``c`` complex
    [4, 8], ``i`` int [4], ``j`` int [2, 4], ``m`` bool [4, 8], ``t`` int [], ``p`` a parameter with a gradient.
    """
    generator = torch.Generator().manual_seed(0)

    def made(*shape: int) -> torch.Tensor:
        tensor = torch.randn(*shape, generator=generator).to(device)
        return tensor.requires_grad_() if grad else tensor

    parameter = torch.nn.Parameter(torch.ones(4, device=device))
    parameter.grad = torch.ones(4, device=device)
    shapes: dict[str, tuple[int, ...]] = {
        "x": (4, 8),
        "v": (8,),
        "e": (8, 8),
        "w": (24, 8),
        "s": (3, 2, 8),
        "q": (2, 3, 8),
        "im": (2, 3, 8, 8),
        "vol": (2, 3, 4, 8, 8),
    }
    return {
        **{name: made(*shape) for name, shape in shapes.items()},
        "c": torch.complex(torch.ones(4, 8), torch.ones(4, 8)).to(device).requires_grad_(grad),
        "i": torch.tensor([0, 2, 1, 3]).to(device),
        "j": torch.tensor([[0, 2, 1, 3], [1, 1, 0, 2]]).to(device),
        "m": (torch.arange(32).view(4, 8) % 3 == 0).to(device),
        "t": torch.tensor(2).to(device),
        "p": parameter,
        "torch": torch,
        "F": torch.nn.functional,
    }
