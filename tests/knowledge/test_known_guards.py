"""Of each test whose answer on XLA is known, the branch that runs there is judged and the other is not.

The guards are grouped by what they ask, and the answer follows from the question: a test for the device at hand holds,
one for another device, for a tracer or for an exporter does not. It is written from the side of programs, so a row
that is missing from the table, or that says the opposite, makes a program here be judged wrongly.
"""

from __future__ import annotations

import csv
from importlib import resources

import pytest

from xlalint.testing import findings_of

FOR_THE_DEVICE = """
    is_torch_xla_available() | is_torch_tpu_available() | is_torch_neuroncore_available() | is_tpu_available()
    is_xla_available() | is_xla_tensor(x) | torch_xla._XLAC._xla_get_default_device() | xm.is_xla_tensor(x)
    xla._XLA_AVAILABLE | _XLA_AVAILABLE | _XLA_GREATER_EQUAL_2_1 | _XLA_GREATER_EQUAL_2_5 | XLA_AVAILABLE | has_xla
    x.is_xla | self.args.tpu | self.args.is_tpu | self.args.use_tpu | self.args.use_xla | self.args.on_tpu
    is_xla() | is_tpu() | is_neuron() | is_on_xla() | on_xla() | on_tpu() | use_xla() | use_tpu() | using_xla()
    using_tpu() | has_tpu() | is_xla_device(device) | self.args.is_xla | self.args.on_xla | self.args.using_xla
    self.args.using_tpu | self.args.device.type == "xla" | self.state.distributed_type == DistributedType.XLA
    self.state.distributed_type == DistributedType.TPU | self.args.no_cuda | self.args.no_gpu | self.args.disable_cuda
"""
FOR_ANOTHER_DEVICE = """
    torch.cuda.is_available() | torch.cuda.is_bf16_supported() | torch.cuda.is_initialized()
    torch.cuda.is_current_stream_capturing() | torch.backends.mps.is_available() | torch.backends.mps.is_built()
    torch.mps.is_available() | torch.xpu.is_available() | torch.mtia.is_available() | torch.hpu.is_available()
    torch.npu.is_available() | torch.mlu.is_available() | torch.musa.is_available()
    is_cuda_available() | is_torch_cuda_available() | is_torch_mps_available() | is_mps_available()
    is_torch_npu_available() | is_npu_available() | is_torch_xpu_available() | is_xpu_available() | is_ipex_available()
    is_torch_mlu_available() | is_mlu_available() | is_torch_musa_available() | is_musa_available()
    is_torch_hpu_available() | is_hpu_available() | is_habana_gaudi1() | is_sdaa_available() | is_xccl_available()
    is_rocm_available() | is_torch_bf16_gpu_available() | is_torch_tf32_available() | is_cuda_stream_capturing()
    is_flash_attn_2_available() | is_flash_attn_3_available() | is_flash_attn_available()
    is_flash_linear_attention_available() | is_mamba_ssm_available() | is_mamba_2_ssm_available()
    is_causal_conv1d_available() | is_xformers_available() | is_sagemaker_mp_enabled() | is_fp8_available()
    x.is_cuda | x.is_cpu | x.is_mps | x.is_xpu | x.is_meta | x.is_mkldnn | x.is_sparse | x.is_quantized | x.is_nested
    self.args.device.type == "cuda" | self.args.device.type == "cpu"
    self.args.device.type == "mps" | self.args.device.type == "xpu"
    self.args.device.type == "npu" | self.args.device.type == "hpu"
    self.args.device.type == "mlu" | self.args.device.type == "musa"
    self.args.device.type == "meta" | self.args.device.type == "hip"
    self.args.device.type == "privateuseone" | self.args.device.type == "tpu"
    self.state.distributed_type == DistributedType.MULTI_GPU | self.state.distributed_type == DistributedType.DEEPSPEED
    self.state.distributed_type == DistributedType.MEGATRON_LM | x.dtype == torch.float16
    self.args.use_cuda | self.args.use_gpu | self.args.using_cuda | self.args.using_gpu | self.args.on_cuda
    self.args.on_gpu | self.args.has_cuda | self.args.has_gpu | self.args.with_cuda | self.args.enable_cuda
    self.args.n_gpu>1 | self.args.n_gpus>1 | self.args.ngpu>1 | self.args.ngpus>1
"""
FOR_A_TRACER = """
    torch.jit.is_scripting() | torch.jit.is_tracing() | torch._C._get_tracing_state() | torch.onnx.is_in_onnx_export()
    torch.compiler.is_compiling() | torch.compiler.is_dynamo_compiling() | torch.compiler.is_exporting()
    torch._dynamo.is_compiling() | torch._dynamo.external_utils.is_compiling() | torch._utils.is_compiling()
    torch._dynamo.is_exporting() | torch.fx._symbolic_trace.is_fx_tracing() | is_scripting() | is_tracing()
    _is_tracing() | is_jit_tracing() | is_fx_tracing() | is_compiling() | is_torchdynamo_compiling()
    is_torchdynamo_exporting() | is_exporting() | is_in_onnx_export() | is_onnx_exporting() | is_exportable()
    is_scriptable() | is_no_jit() | is_torch_fx_proxy(x)
    isinstance(self.child, torch.fx.Proxy) | isinstance(self.child, torch.jit.ScriptModule)
    isinstance(x, torch._subclasses.FakeTensor) | isinstance(x, torch.distributed.tensor.DTensor)
    | isinstance(self.mode, torch.utils._python_dispatch.TorchDispatchMode)
"""
FOR_TORCH = "is_torch_available()"
FOR_ANOTHER_FRAMEWORK = """
    is_tf_available() | is_flax_available() | is_tf_tensor(x) | is_jax_tensor(x) | is_mlx_array(x)
"""
FOR_THE_BUILD = "torch.backends.cuda.is_built() | torch.version.cuda | x.is_hpu"
HEAD = """\
import torch
import torch_xla
import torch_xla.core.xla_model as xm
from accelerate import DistributedType
from lightning.fabric.accelerators import xla
from project.guards import {names}
"""
MODEL = """

class Model{number}(torch.nn.Module):
    def __init__(self, args, state, child, mode):
        super().__init__()
        self.args = args
        self.state = state
        self.child = child
        self.mode = mode

    def forward(self, x: torch.Tensor):
        if {guard}:
            x.sum().item()
        else:
            x.mean().item()
"""
HOLDS, FAILS = "x.sum().item()", "x.mean().item()"


def asked(texts: str) -> list[str]:
    return [text.strip() for line in texts.strip().splitlines() for text in line.split("|") if text.strip()]


CASES = [
    *((text, {HOLDS}) for text in asked(FOR_THE_DEVICE)),
    *((text, {FAILS}) for text in asked(FOR_ANOTHER_DEVICE)),
    *((text, {FAILS}) for text in asked(FOR_A_TRACER)),
    *((text, {HOLDS}) for text in asked(FOR_TORCH)),
    *((text, {FAILS}) for text in asked(FOR_ANOTHER_FRAMEWORK)),
    *((text, {HOLDS, FAILS}) for text in asked(FOR_THE_BUILD)),
]


@pytest.fixture(scope="module")
def judged() -> dict[str, set[str]]:
    """The reads that are flagged, by the guard that they stand behind."""
    bare = [text.partition("(")[0] for text, _ in CASES if not text.startswith("isinstance")]
    head = HEAD.format(names=", ".join(text for text in bare if text.isidentifier()))
    models = [MODEL.format(number=number, guard=text) for number, (text, _) in enumerate(CASES)]
    program = "".join([head, *models])
    lines = program.splitlines()
    found: dict[str, set[str]] = {text: set() for text, _ in CASES}
    for finding in (one for one in findings_of(program) if one.code == "XLA101"):
        number = (finding.at.line - 1 - head.count("\n")) // MODEL.count("\n")
        found[CASES[number][0]].add(lines[finding.at.line - 1].strip())
    return found


@pytest.mark.parametrize(("text", "alive"), CASES, ids=[text for text, _ in CASES])
def test_the_branch_that_runs_on_xla_is_judged(text: str, alive: set[str], judged: dict[str, set[str]]) -> None:
    assert judged[text] == alive


def test_every_guard_of_the_table_is_asked_here() -> None:
    """Without this a new row would have no program. Names are compared by their last part."""
    written = " ".join(text for text, _ in CASES).replace('"', " ").replace("(", " ").replace(")", " ")
    words = {word.rpartition(".")[2] for word in written.replace(",", " ").split()}
    text = (resources.files("xlalint.knowledge") / "guards.csv").read_text(encoding="utf-8")
    rows = {row["name"].rpartition("=")[2].rpartition(".")[2] for row in csv.DictReader(text.splitlines())}
    assert rows - words == set()
