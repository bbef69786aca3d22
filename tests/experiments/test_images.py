from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, final

from test_made_up import BlobPairs, Blobs

from identica.experiments import Row
from identica.learners import Contrastive, Supervised
from identica.models import Model
from identica.sources import SourceSettings
from identica.spaces import Box


@final
@dataclass(frozen=True)
class Pictures(SourceSettings):
    """Blobs that say they are images."""

    observes: ClassVar[Literal["vectors", "images"]] = "images"

    def build(self, seed: int, device: str = "cpu") -> BlobPairs:
        return BlobPairs(16)


def test_a_row_of_images_has_the_recipe_for_images() -> None:
    learner = Contrastive(Model(Box(3), "laplace"))
    row = Row("p-1", Pictures(), learner)
    assert row.run(0).recipe == learner.image_recipe("fast")
    assert row.run(0, "paper", 5).recipe == learner.image_recipe("paper").with_steps(5)
    assert row.baseline(0).recipe == Supervised(Box(3)).image_recipe("fast")
    assert Row("p-2", Blobs(), learner).run(0).recipe == learner.recipe("fast")
    assert "observes" not in row.run(0).settings["source"]
