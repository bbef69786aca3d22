from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from identica._checks import InputError
from identica.laws import Conditional, Laplace, Normal
from identica.spaces import Box
from identica.theory import CASES, TOO_NARROW, Case, measure_limit

BY_NAME = {case.name: case for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_gap_closes(case: Case) -> None:
    limit = measure_limit(case, [2**6, 2**10, 2**14], anchors=256)
    assert abs(limit.gaps[-1]) < (0.02 if "vmf" in case.name else 0.05)
    assert limit.bands[0] > limit.bands[-1] > 0


def test_a_matched_map_has_the_entropy_of_the_conditional_and_others_have_more() -> None:
    for law in ("vmf(kappa=10) in 3 dimensions", "laplace(scale=0.1) in a box of 3 dimensions"):
        entropies = {
            name.removeprefix(f"{law}, "): measure_limit(case, [16], anchors=2000).cross_entropy
            for name, case in BY_NAME.items()
            if name.startswith(law)
        }
        best, *others = entropies.values()
        assert others[0] == pytest.approx(best, abs=1e-9)  # an isometry
        assert others[1] > best + 0.1


@pytest.mark.parametrize(("law", "name"), [(Laplace(0.1), "laplace(scale=0.1)"), (Normal(0.1), "normal(sigma=0.1)")])
def test_quadrature_is_the_closed_form_of_the_density(law: Laplace | Normal, name: str) -> None:
    case = BY_NAME[f"{name} in a box of 3 dimensions, identity"]
    latents = torch.rand(50, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    points = latents.flip(0)
    log_q = case.similarity.paired(case.encode(latents), case.encode(points)) - case.log_normaliser(latents)
    expected = Conditional(Box(3), law).log_prob(points, latents)
    assert torch.allclose(log_q, expected, atol=1e-3)


def test_where_pairs_share_more_than_the_negatives_can_tell_the_gap_stays() -> None:
    limit = measure_limit(TOO_NARROW, [2**8, 2**12], anchors=128)
    assert min(limit.gaps) > 0.3
    assert limit.gaps[0] > limit.gaps[1]


def test_it_is_a_command(command_line: Callable[..., tuple[int, str, str]]) -> None:
    words = ("theory", "theorem1", "--least", "4", "--most", "6", "--anchors", "16")
    code, out, err = command_line(*words, "--json")
    assert code == 0, err
    cases = json.loads(out)["cases"]
    assert len(cases) == len(CASES)
    assert all(math.isfinite(case["gap"]) for case in cases)
    assert "2^6" in command_line(*words, "--picture", "limit.png")[1]
    assert Path("limit.png").read_bytes().startswith(b"\x89PNG")
    code, _, err = command_line("theory", "theorem1", "--least", "9", "--most", "4")
    assert code == 2
    assert "--least must be at most --most, got 9 and 4" in err


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match="negatives must be"):
        measure_limit(CASES[0], [0])
    with pytest.raises(InputError, match="seed must be a whole number from 0"):
        measure_limit(CASES[0], [16], seed=-1)
