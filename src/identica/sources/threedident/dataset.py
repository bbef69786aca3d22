"""3DIdent as plain data: which images, and how partners differ."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal, final, get_args

from identica import _checks
from identica._checks import InputError
from identica._folders import data_folder
from identica.laws import Conditional, Law
from identica.rendering.latents import LATENTS
from identica.rendering.sets import UNIT_BOX
from identica.sources.base import Part, SourceSettings
from identica.sources.threedident.augmentations import SimCLRViews
from identica.sources.threedident.folder import SceneImages, read_scenes
from identica.sources.threedident.matching import Matcher, Search
from identica.sources.threedident.pairs import PAPERS_PAIRS, MatchedPairs, RenderedPairs, ScenePairing, ScenePairs
from identica.spaces import Real, Space

__all__ = ["ThreeDIdent", "ThreeDIdentData", "ThreeDIdentMatching"]

ThreeDIdentData = Literal["full", "laptop"]
"""As the paper has it, 250 000 images of 224 × 224 and 25 000 to test; or 50 000 of 64 × 64 and 5000 to test."""
ThreeDIdentMatching = Literal["exact", "ivf", "rendered"]
"""How the image of a partner is found: as `Matcher` searches, or it was rendered for its anchor."""

_AUGMENTATIONS = "augmentations"
# Side of an image, and how many there are to train on and to test.
_SIZES: dict[str, tuple[int, dict[Part, int]]] = {
    "full": (224, {"training": 250_000, "test": 25_000}),
    "laptop": (64, {"training": 50_000, "test": 5_000}),
}
_FOLDERS: dict[Part, str] = {"training": "train", "test": "test"}


@final
@dataclass(frozen=True)
class ThreeDIdent(SourceSettings):
    """Pairs of images of a teapot under a spotlight, whose ten latents are uniform in [-1, 1].

    Args:
        pairs: The law of a partner's latents, truncated to the box; `augmentations` for two views of one image; None if
            no pairs are needed.
        data: Which images.
        matching: How the image of a partner is found.
        images: How many images there must be to train on; any number if not given.
        pixels: What their height must be; any if not given.
    """

    observes: ClassVar[Literal["vectors", "images"]] = "images"

    pairs: Law | Literal["augmentations"] | None = PAPERS_PAIRS
    data: ThreeDIdentData = "full"
    matching: ThreeDIdentMatching = "exact"
    images: int | None = None
    pixels: int | None = None

    def __post_init__(self) -> None:
        _checks.choice("data", self.data, get_args(ThreeDIdentData))
        _checks.choice("matching", self.matching, get_args(ThreeDIdentMatching))
        if isinstance(self.pairs, Law):
            self.pairs.check(UNIT_BOX)
        elif self.pairs is not None:
            _checks.choice("pairs", self.pairs, (_AUGMENTATIONS,))
        if self.matching != "exact" and not isinstance(self.pairs, Law):
            raise InputError(
                f"matching must be 'exact' unless pairs are a law, got {self.matching!r} with {self.pairs}"
            )
        for name, value in (("images", self.images), ("pixels", self.pixels)):
            if value is not None:
                _checks.at_least_one(name, value)

    def __str__(self) -> str:
        size = self.data if self.images is None else f"{self.images} images of {self.pixels} × {self.pixels}"
        name = "3DIdent" if self.data == "full" and self.images is None else f"3DIdent ({size})"
        how = "" if self.matching == "exact" else f" ({self.matching})"
        return name if self.pairs is None else f"{name}, {self.pairs}{how}{' pairs' * isinstance(self.pairs, Law)}"

    def folder(self, part: Part) -> Path:
        """Where images to train on or to test are looked for; those with rendered partners have a folder of their own.

        The full set is where the released archives unpack in the folder of data sets: `3dident/train` and
        `3dident/test`. Others are in `3dident/laptop`, and with partners in `3dident/laptop-normal` or the like.
        """
        name: str = "" if self.data == "full" else self.data
        if part == "training" and self.matching == "rendered":
            name = f"{self.data}-{str(self.pairs).partition('(')[0]}"
        return data_folder() / "3dident" / name / _FOLDERS[part]

    def build(self, seed: int, device: str = "cpu") -> ScenePairs:
        """The source; nothing about it is random but the pairs that are drawn."""
        training, test = self.read("training"), self.read("test")
        found = len(training), training.shape[1]
        wanted = self.images or found[0], self.pixels or found[1]
        if found != wanted:
            raise InputError(
                f"{str(self.folder('training'))!r} must hold {wanted[0]} images of height {wanted[1]}, "
                f"got {found[0]} of height {found[1]}"
            )
        return ScenePairs(training, test, self._pairing(training))

    def read(self, part: Part) -> SceneImages:
        """Images to train on, or to test."""
        folder = self.folder(part)
        if not folder.is_dir():
            raise InputError(f"{self} needs the folder {str(folder)!r}, which is not there: {self._hint(part)}")
        return read_scenes(folder)

    def _hint(self, part: Part) -> str:
        """What makes a folder that is missing."""
        side, counts = _SIZES[self.data]
        pairs = f" --pairs '{self.pairs}'" if part == "training" and self.matching == "rendered" else ""
        seed = 0 if part == "training" else 1
        command = (
            f"`identica render --count {counts[part]} --size {side} --layout array --seed {seed}{pairs} "
            f"--out '{self.folder(part)}'` makes it"
        )
        return command if self.data == "laptop" else f"the released set goes there, or {command}"

    def _pairing(self, training: SceneImages) -> ScenePairing | None:
        if self.pairs is None:
            return None
        if not isinstance(self.pairs, Law):
            return SimCLRViews(training.shape[1:])
        if self.matching == "rendered":
            return RenderedPairs(read_scenes(self.folder("training"), "partner_"))
        search: Search = self.matching
        return MatchedPairs(Conditional(UNIT_BOX, self.pairs), Matcher(training.latents, search))

    def available(self) -> ThreeDIdent:
        """Those for a laptop, with their number and size if they are there."""
        smaller = replace(self, data="laptop")
        if not smaller.folder("training").is_dir():
            return smaller
        found = read_scenes(smaller.folder("training"))
        return replace(smaller, images=len(found), pixels=found.shape[1])

    def published(self) -> ThreeDIdent:
        """The same law of pairs among the images of the paper."""
        return ThreeDIdent(self.pairs)

    def rendered(self) -> ThreeDIdent:
        """With partners that were rendered for their anchors."""
        return replace(self, matching="rendered") if isinstance(self.pairs, Law) else super().rendered()

    def unpaired(self) -> ThreeDIdent:
        """The same images without a law of pairs."""
        return replace(self, pairs=None, matching="exact")

    def baseline_space(self, codes: Space) -> Space:
        """Labels are from -1 to 1, so the supervised encoder is unbounded whatever the learner assumes."""
        return Real(len(LATENTS))

    def describe(self) -> str:
        """A sentence on the images and their pairs."""
        images = "Images show a teapot under a spotlight, with ten known latents"
        if self.pairs is None:
            return f"{images}."
        if not isinstance(self.pairs, Law):
            return f"{images}. A pair is two views of one image: parts of it in distorted colours."
        how = "were rendered" if self.matching == "rendered" else "are the nearest image there is"
        return f"{images}. Those of a partner are drawn around them by {self.pairs}, and {how}."
