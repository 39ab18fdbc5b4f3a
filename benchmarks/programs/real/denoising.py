"""A denoising loop of six steps with a scheduler of diffusers."""

# mypy: ignore-errors

import torch
import torch_xla
from diffusers import DDPMScheduler, UNet2DModel


def main():
    device = torch_xla.device()
    model = UNet2DModel(
        sample_size=16,
        layers_per_block=1,
        block_out_channels=(8, 16),
        down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"),
        norm_num_groups=4,
    )
    model = model.to(device).eval()
    scheduler = DDPMScheduler(num_train_timesteps=100)
    scheduler.set_timesteps(6)
    image = torch.randn(1, 3, 16, 16).to(device)
    with torch.no_grad():
        for t in scheduler.timesteps:
            noise = model(image, t).sample
            image = scheduler.step(noise, t, image).prev_sample
            torch_xla.sync()
    print(image.cpu().mean())


if __name__ == "__main__":
    main()
