"""A decoder in the manner of Hugging Face models with a greedy loop that grows its text by one token a step.

Every length is a new graph, and the loop's test reads the device. Its twin is ``decode_loop_mended.py``.
Run with ``PJRT_DEVICE=CPU python decode_loop_costly.py``.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

MAX_LENGTH = 10


@dataclass
class DecoderConfig:
    vocab_size: int = 96
    hidden_size: int = 32
    num_attention_heads: int = 4
    num_hidden_layers: int = 2
    max_position_embeddings: int = MAX_LENGTH
    eos_token_id: int = 1


@dataclass
class DecoderOutput:
    logits: torch.Tensor


class DecoderLayer(nn.Module):
    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.heads = config.num_attention_heads
        self.norm = nn.LayerNorm(config.hidden_size)
        self.qkv = nn.Linear(config.hidden_size, 3 * config.hidden_size)
        self.out = nn.Linear(config.hidden_size, config.hidden_size)
        self.mlp = nn.Sequential(
            nn.LayerNorm(config.hidden_size),
            nn.Linear(config.hidden_size, 4 * config.hidden_size),
            nn.GELU(),
            nn.Linear(4 * config.hidden_size, config.hidden_size),
        )

    def forward(self, hidden_states: torch.Tensor) -> torch.Tensor:
        batch, length, width = hidden_states.shape
        qkv = self.qkv(self.norm(hidden_states)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        hidden_states = hidden_states + self.out(attended.transpose(1, 2).reshape(batch, length, width))
        return hidden_states + self.mlp(hidden_states)


class DecoderForCausalLM(nn.Module):
    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.positions = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.num_hidden_layers))
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)

    def forward(self, input_ids: torch.Tensor) -> DecoderOutput:
        positions = torch.arange(input_ids.shape[1], device=input_ids.device)
        hidden_states = self.tokens(input_ids) + self.positions(positions)
        for layer in self.layers:
            hidden_states = layer(hidden_states)
        return DecoderOutput(logits=self.lm_head(hidden_states))


@torch.no_grad()
def generate(model: DecoderForCausalLM, prompt: torch.Tensor) -> torch.Tensor:
    model.eval()
    input_ids = prompt
    finished = torch.zeros(prompt.shape[0], 1, dtype=torch.bool, device=prompt.device)
    while not finished.all():  # costs: XLA202 XLA402
        logits = model(input_ids).logits[:, -1]
        next_token = logits.argmax(dim=-1, keepdim=True)
        next_token = torch.where(finished, model.config.eos_token_id, next_token)
        input_ids = torch.cat([input_ids, next_token], dim=1)  # costs: XLA309
        finished = finished | (next_token == model.config.eos_token_id)
        if input_ids.shape[1] == MAX_LENGTH:
            break
    return input_ids


def main() -> None:
    torch.manual_seed(0)
    device = torch_xla.device()
    config = DecoderConfig()
    model = DecoderForCausalLM(config).to(device)
    prompt = torch.randint(2, config.vocab_size, (2, 4)).to(device)
    print(generate(model, prompt).tolist())


if __name__ == "__main__":
    main()
