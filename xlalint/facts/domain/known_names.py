"""Names of the Python surface of tensors, modules and programs that evaluation needs by the thousand.

They stand here and not in a table because they hold no judgement: what an op costs is measured and in ``ops.csv``.
"""

from __future__ import annotations

import functools
import re

from xlalint.facts.domain.values import ANY_HOST, BOOL, DTYPE, TENSOR_ROLES, XLA_DEVICE, Value
from xlalint.knowledge.tables import results

HOST_ATTRIBUTES = {
    "ndim": "int",
    "requires_grad": "bool",
    "layout": "object",
    "names": "object",
    "itemsize": "int",
    "nbytes": "int",
    "is_leaf": "bool",
    "grad_fn": "object",
    "name": "str",
    "output_nr": "int",
}
SAME_TENSOR_ATTRIBUTES = frozenset({"T", "mT", "H", "mH", "data", "grad"})
HOST_METHODS = {
    **dict.fromkeys(("dim", "numel", "nelement", "ndimension", "element_size", "data_ptr", "get_device"), "int"),
    **dict.fromkeys(("storage_offset", "sym_size", "__len__", "_version"), "int"),
    **dict.fromkeys(("is_contiguous", "is_floating_point", "is_complex", "is_shared", "is_pinned"), "bool"),
    **dict.fromkeys(
        ("has_names", "is_inference", "is_signed", "is_same_size", "is_conj", "is_neg", "is_set_to"), "bool"
    ),
    **dict.fromkeys(("stride",), "size"),
    **dict.fromkeys(("untyped_storage", "storage", "register_hook", "register_post_accumulate_grad_hook"), "object"),
    **dict.fromkeys(("retain_grad",), "none"),
}
TENSOR_METHODS = (
    frozenset(results())
    | frozenset(HOST_METHODS)
    | frozenset(
        [
            "item",
            "tolist",
            "cpu",
            "numpy",
            "to",
            "size",
            "view",
            "reshape",
            "expand",
            "squeeze",
            "unsqueeze",
            "permute",
            "repeat",
            "split",
            "chunk",
            "flatten",
            "backward",
            "detach",
            "cuda",
            "type",
            "new_tensor",
            "new_zeros",
            "new_ones",
            "new_full",
            "new_empty",
            "index_select",
        ]
    )
)
"""Names that are methods of tensors, whatever else they may be."""

FOREIGN_METHODS = frozenset(name for name in (*dir(str), *dir(dict)) if not name.startswith("_")) - TENSOR_METHODS
"""Methods of words and mappings that tensors have none of."""
TEXT_KEYS = frozenset(
    {
        "text", "texts", "caption", "captions", "prompt", "prompts",
        "path", "paths", "name", "names", "filename", "filenames", "file_name", "question", "info", "infos",
        "img_path", "img_paths", "image_path", "image_paths", "img_name", "image_name",
    }
)  # fmt: skip
"""Entries of a batch that hold words: no collator makes tensors of them."""

TENSOR_ONLY = frozenset([
    "add_", "argmax", "backward", "bmm", "byte", "clamp", "clamp_", "clamp_max", "clamp_min", "contiguous", "detach",
    "detach_", "dim", "div_", "expand_as", "fill_diagonal_", "flatten", "gather", "index_add", "index_add_",
    "index_copy_", "index_fill_", "index_select", "is_cuda", "is_floating_point", "log_softmax", "logsumexp", "long",
    "mT", "masked_fill", "masked_fill_", "masked_scatter", "masked_scatter_", "masked_select", "matmul", "mul_",
    "nan_to_num_", "narrow", "new_empty", "new_full", "new_ones", "new_tensor", "new_zeros", "numel", "permute",
    "relu", "repeat_interleave", "requires_grad", "requires_grad_", "rsqrt", "save_for_backward", "scatter", "scatter_",
    "scatter_add", "scatter_add_", "sigmoid", "softmax", "sub_", "sum_to_size", "type_as", "unbind", "unsqueeze",
    "unsqueeze_", "view_as",
])  # fmt: skip
"""Attributes that only tensors have (numpy and Python objects lack them), and what is done to tensors alone: such a use
makes a parameter a tensor."""

ANY_ATTRIBUTE_ROLES = TENSOR_ROLES
PROPERTY_DECORATORS = frozenset({"property", "cached_property", "lazy_property", "torch_compilable_property"})


def is_module_base(name: str) -> bool:
    """Whether a class of this dotted name, outside of the program, is one of modules."""
    return name.startswith("torch.nn") or name.endswith(("Module", "PreTrainedModel", "ModelMixin"))


WITH_PARAMETERS = ("Linear", "Bilinear", "Conv", "Embedding", "LSTM", "GRU", "RNN", "BatchNorm", "LayerNorm")
"""Beginnings of the names of torch's modules that have parameters of their own."""
UNEVALUATED_DECORATORS = frozenset({"contextmanager", "overload", "abstractmethod", "asynccontextmanager"})
MODULE_ATTRIBUTES: dict[str, Value] = {
    "training": BOOL,
    "config": ANY_HOST,
    "device": XLA_DEVICE,
    "dtype": DTYPE,
    "generation_config": ANY_HOST,
}
MODULE_HOST_ATTRIBUTES = frozenset(
    [
        "in_features",
        "out_features",
        "num_embeddings",
        "embedding_dim",
        "padding_idx",
        "kernel_size",
        "stride",
        "padding",
        "eps",
        "p",
        "hidden_size",
        "in_channels",
        "out_channels",
        "num_heads",
        "embed_dim",
        "groups",
        "dilation",
        "normalized_shape",
        "num_features",
        "momentum",
    ]
)
HOST_NAMES = frozenset(
    [
        "config",
        "cfg",
        "args",
        "logger",
        "tokenizer",
        "device",
        "dtype",
        "name",
        "prefix",
        "suffix",
        "path",
        "training_args",
        "generation_config",
        "hparams",
        "opt",
        "opts",
        "params_dict",
        "root",
        "transform",
        "target_transform",
        "filename",
        "file",
    ]
)
"""Parameters that are host objects whatever they hold."""
COUNTER_NAMES = frozenset({"i", "j", "k", "n", "t", "it"})
COUNTER_SUFFIXES = ("idx", "index", "iter", "itr", "iteration", "step")
"""How the names of loop counters end."""
HOST_PREFIXES = ("output_", "return_", "use_", "is_", "do_", "num_", "n_", "max_", "min_", "has_", "with_", "enable_")
TENSOR_NAMES = frozenset(
    [
        "hidden_states",
        "attention_mask",
        "input_ids",
        "inputs_embeds",
        "x",
        "input",
        "inputs",
        "pixel_values",
        "query",
        "key",
        "value",
        "position_ids",
        "labels",
        "logits",
        "mask",
        "features",
        "tensor",
        "query_states",
        "key_states",
        "value_states",
        "target",
        "preds",
        "hidden_state",
        "q",
        "k",
        "v",
        "embeddings",
        "residual",
        "emb",
        "feats",
        "image",
        "images",
        "img",
        "imgs",
        "pred",
        "targets",
        "probs",
        "scores",
        "src",
        "tgt",
        "hidden",
        "latents",
        "edge_index",
    ]
)
TENSOR_SUFFIXES = (
    "_states", "_ids", "_mask", "_embeds", "_embeddings", "_values", "_features", "_weights", "_emb", "_embedding",
    "_feats", "_logits", "_labels", "_probs", "_scores", "_targets", "_preds",
)  # fmt: skip
WITHOUT_GRADIENT = re.compile(r"(?:^|_)(?:targets?|gt|ground_truth|ids)$|(?:labels?|masks?)$").search


@functools.lru_cache(maxsize=8192)
def is_without_gradient(name: str) -> bool:
    """Labels, masks and ids: no gradient flows into what is called so."""
    return WITHOUT_GRADIENT(name) is not None


DRIVER_NAMES = frozenset({"fabric", "accelerator"})
DRIVER_USES = frozenset({"setup", "prepare", "setup_dataloaders", "clip_gradients", "unwrap_model", "no_backward_sync"})
"""What is done to the object of a framework that runs backward, and sets the step boundary, itself."""
MODEL_USES = frozenset(
    {"parameters", "named_parameters", "train", "eval", "state_dict", "load_state_dict", "zero_grad", "modules"}
)
SCALER_NAMES = frozenset({"amp_scaler", "grad_scaler", "loss_scaler"})
"""What is called so and itself called runs the backward pass and the update."""
OPTIMIZER_NAMES = frozenset({"optimizer", "optim", "opt"})
MODEL_NAMES = frozenset(
    [
        "model",
        "net",
        "network",
        "generator",
        "discriminator",
        "encoder",
        "decoder",
        "policy",
        "actor",
        "critic",
        "agent",
    ]
)


def is_model_name(name: str) -> bool:
    """What is called so, and itself called, is a model."""
    return name in MODEL_NAMES or name.endswith(("_net", "model"))


LOSS_NAMES = frozenset(["criterion", "crit", "loss_fn", "loss_func", "loss_function", "loss_fct", "criterion_fn"])


SETTINGS = ("Config", "Arguments", "Args", "Options")
"""Ends of class names whose objects hold settings: host values, whatever is asked of them."""


LEVELS = frozenset(
    {"debug", "info", "warning", "warn", "error", "critical", "exception", "log", "warning_once", "info_once"}
)


LANGUAGE_MODELS = frozenset({"transformers", "peft", "trl", "optimum", "unsloth", "auto_gptq", "awq"})
"""Libraries whose models have ``generate``."""
GENERATION_OPTIONS = frozenset(
    {
        "**", "input_ids", "inputs_embeds", "attention_mask", "pixel_values", "input_features", "decoder_input_ids",
        "generation_config", "logits_processor", "stopping_criteria", "streamer", "max_new_tokens", "min_new_tokens",
        "max_length", "min_length", "do_sample", "num_beams", "num_return_sequences", "temperature", "top_k", "top_p",
        "repetition_penalty", "no_repeat_ngram_size", "length_penalty", "early_stopping", "eos_token_id",
        "pad_token_id", "bos_token_id", "use_cache", "return_dict_in_generate", "output_scores", "synced_gpus",
    }
)  # fmt: skip
"""What it takes."""
