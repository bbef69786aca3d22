"""Two views of one image: the augmentations of SimCLR that the paper takes."""

from __future__ import annotations

from typing import Any, final

import torch
from torch import Generator, Tensor

from identica.sources.threedident._extras import library
from identica.sources.threedident.folder import SceneImages
from identica.sources.threedident.pairs import ScenePairing

__all__ = ["SimCLRViews"]

# SimCLR's colour distortion at strength 1: brightness, contrast, saturation and hue, in 4 of 5 images; grey in 1 of 5.
_JITTER, _JITTERED, _GREY = (0.8, 0.8, 0.8, 0.2), 0.8, 0.2
_AREAS, _ASPECTS = (0.08, 1.0), (3 / 4, 4 / 3)


@final
class SimCLRViews(ScenePairing):
    """Anchor and positive are two views of one image: a random part of it, resized, in distorted colours.

    Parts are 8 to 100 % of the area with sides in a ratio of 3:4 to 4:3. Colours are jittered and sometimes dropped, as
    SimCLR recommends; there is no flip and no blur.

    Args:
        size: Height and width of an image.
    """

    def __init__(self, size: tuple[int, int]) -> None:
        kornia = library("kornia.augmentation", "augmenting images", "kornia")
        self._transform: Any = torch.nn.Sequential(
            kornia.RandomResizedCrop(size, scale=_AREAS, ratio=_ASPECTS),
            kornia.ColorJitter(*_JITTER, p=_JITTERED),
            kornia.RandomGrayscale(p=_GREY),
        )

    def views(self, images: Tensor, generator: Generator) -> Tensor:
        """One view of each image, from 0 to 1, drawn from the generator."""
        seed = int(torch.randint(1 << 62, (1,), generator=generator, device=generator.device))
        with torch.random.fork_rng(devices=[]):  # kornia draws from torch's own generator
            torch.default_generator.manual_seed(seed)
            found: Tensor = self._transform(images)
        return found.clamp(0, 1).contiguous(memory_format=torch.channels_last)

    def pairs(self, images: SceneImages, rows: Tensor, generator: Generator) -> tuple[Tensor, Tensor]:
        plain = images.floats(rows, generator.device)
        first, second = self.views(torch.cat([plain, plain]), generator).chunk(2)
        return first, second
