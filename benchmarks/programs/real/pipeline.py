"""A pipeline of diffusers, called twice for five steps."""

# mypy: ignore-errors

import torch_xla
from diffusers import DDPMPipeline, DDPMScheduler, UNet2DModel


def main():
    model = UNet2DModel(
        sample_size=16,
        layers_per_block=1,
        block_out_channels=(8, 16),
        down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"),
        norm_num_groups=4,
    )
    pipe = DDPMPipeline(model, DDPMScheduler(num_train_timesteps=100)).to(torch_xla.device())
    pipe.set_progress_bar_config(disable=True)
    for _ in range(2):
        pipe(batch_size=1, num_inference_steps=5)


if __name__ == "__main__":
    main()
