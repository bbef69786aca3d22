"""Samplers and scores: seconds for the sizes people use.

python benchmarks/samplers.py
"""

from __future__ import annotations

import json
import os

import numpy as np
import torch

import measure
from identica.laws import Conditional, GeneralizedNormal, Laplace, Law, Normal, VonMisesFisher
from identica.metrics import linear_r2, mcc
from identica.spaces import Box, Space, Sphere

MILLION = 1_000_000


def sampler_seconds(space: Space, law: Law) -> float:
    generator = torch.Generator().manual_seed(0)
    means = space.uniform(MILLION, generator)
    conditional = Conditional(space, law)
    return measure.seconds(lambda: conditional.sample(means, generator), repeats=3)


def score_seconds() -> dict[str, float]:
    generator = np.random.default_rng(0)
    latents = generator.standard_normal((100_000, 50))
    codes = latents @ generator.standard_normal((50, 50))
    return {
        "mcc_50_factors_100k": measure.seconds(lambda: mcc(latents, codes), repeats=3),
        "r2_50_factors_100k": measure.seconds(lambda: linear_r2(latents, codes), repeats=3),
    }


def main() -> None:
    torch.set_num_threads(os.cpu_count() or 1)
    million = {
        "vmf_million": sampler_seconds(Sphere(10), VonMisesFisher(10.0)),
        "laplace_box_million": sampler_seconds(Box(10), Laplace(0.05)),
        "normal_box_million": sampler_seconds(Box(10), Normal(0.05)),
        "gennorm_box_million": sampler_seconds(Box(10), GeneralizedNormal(3, 0.05)),
    }
    print(json.dumps(million | score_seconds()))


if __name__ == "__main__":
    main()
