"""The same scene with Blender, as the reference for the fast renderer."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from identica._checks import InputError
from identica.rendering.placing import Placing, place
from identica.rendering.scene import Scene
from identica.rendering.teapot import teapot_mesh
