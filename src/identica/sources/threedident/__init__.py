"""3DIdent: a teapot over a ground under a spotlight, with ten known latents, and pairs of its images."""

from identica.sources.threedident.augmentations import SimCLRViews
from identica.sources.threedident.dataset import ThreeDIdent, ThreeDIdentData, ThreeDIdentMatching
from identica.sources.threedident.folder import SceneImages, read_scenes
from identica.sources.threedident.matching import Matcher, Search
from identica.sources.threedident.on_demand import RenderedScenes, RenderedTeapots
from identica.sources.threedident.pairs import MatchedPairs, RenderedPairs, ScenePairing, ScenePairs

__all__ = [
    "MatchedPairs",
    "Matcher",
    "RenderedPairs",
    "RenderedScenes",
    "RenderedTeapots",
    "SceneImages",
    "ScenePairing",
    "ScenePairs",
    "Search",
    "SimCLRViews",
    "ThreeDIdent",
    "ThreeDIdentData",
    "ThreeDIdentMatching",
    "read_scenes",
]
