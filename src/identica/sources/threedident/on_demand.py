"""Scenes that are rendered when they are asked for: pairs without end, drawn by the law itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, final

import torch
from torch import Generator, Tensor

from identica import _checks
from identica.laws import Conditional, Law
from identica.rendering.latents import LATENTS, to_scene
from identica.rendering.sets import UNIT_BOX
from identica.sources.base import Factor, LabelledSource, SourceSettings
from identica.sources.threedident.pairs import PAPERS_PAIRS
from identica.spaces import Real, Space

if TYPE_CHECKING:
    from identica.rendering.renderer import TeapotRenderer

__all__ = ["RenderedScenes", "RenderedTeapots"]

_SMALLEST = 16
_MOST_IN_A_SAMPLE = 1024


@final
@dataclass(frozen=True)
class RenderedScenes(SourceSettings):
    """Pairs of images of a teapot under a spotlight, rendered when they are asked for; no file is needed.

    Latents are uniform in [-1, 1]. No image comes twice, so nothing can be learnt by heart; but rendering takes longer
    than a step of a small network, so a folder that `identica render` made is the faster choice for many epochs.

    Args:
        pairs: The law of a partner's latents, truncated to the box.
        pixels: Of a side, 16 or more.
        samples: Rays through a pixel.
    """

    observes: ClassVar[Literal["vectors", "images"]] = "images"

    pairs: Law = PAPERS_PAIRS
    pixels: int = 64
    samples: int = 4

    def __post_init__(self) -> None:
        self.pairs.check(UNIT_BOX)
        _checks.at_least("pixels", self.pixels, _SMALLEST)
        _checks.at_least_one("samples", self.samples)

    def __str__(self) -> str:
        return f"3DIdent (rendered on demand, {self.pixels} × {self.pixels}), {self.pairs} pairs"

    def build(self, seed: int, device: str = "cpu") -> RenderedTeapots:
        """The source; nothing about it is random but what is drawn."""
        from identica.rendering.renderer import TeapotRenderer

        return RenderedTeapots(Conditional(UNIT_BOX, self.pairs), TeapotRenderer(self.pixels, self.samples))

    def baseline_space(self, codes: Space) -> Space:
        """Labels are from -1 to 1, so the supervised encoder is unbounded whatever the learner assumes."""
        return Real(len(LATENTS))

    def describe(self) -> str:
        """A sentence on the images and their pairs."""
        return (
            "Images show a teapot under a spotlight, with ten known latents. Those of a partner are drawn around them "
            f"by {self.pairs}. Every image was rendered for its batch."
        )


@final
class RenderedTeapots(LabelledSource):
    """Latents that are uniform in their box, partners by a conditional, and their pictures.

    Args:
        conditional: p(z~ | z), on the box of the latents.
        renderer: Draws pictures of latents.
    """

    def __init__(self, conditional: Conditional, renderer: TeapotRenderer) -> None:
        self.conditional, self.renderer = conditional, renderer
        self.shape = (3, renderer.size, renderer.size)
        self.factors = tuple(Factor(name) for name in LATENTS)

    def pairs(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Render anchors and their positives."""
        latents = self._latents(count, generator)
        partners = self.conditional.sample(latents, generator)
        first, second = self.pictures(torch.cat([latents, partners])).chunk(2)
        return first, second

    def sample(self, count: int, generator: Generator) -> Tensor:
        """Render `count` pictures."""
        return self.with_factors(count, generator)[1]

    def bounded_sample(self, count: int, generator: Generator) -> Tensor:
        """Render up to `count` pictures, fewer if that would take long."""
        return self.sample(min(count, _MOST_IN_A_SAMPLE), generator)

    def with_factors(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw latents, and render them."""
        latents = self._latents(count, generator)
        return latents, self.pictures(latents)

    def pictures(self, latents: Tensor) -> Tensor:
        """Pictures of latents in [-1, 1], [count, 3, height, width], from 0 to 1."""
        rendered = torch.from_numpy(self.renderer.render(to_scene(latents.double().cpu().numpy())))
        return rendered.permute(0, 3, 1, 2).to(latents.device, torch.float32) / 255

    def _latents(self, count: int, generator: Generator) -> Tensor:
        return 2 * torch.rand(count, len(LATENTS), generator=generator, device=generator.device) - 1
