from __future__ import annotations

import math

import pytest
import torch

from identica._checks import InputError
from identica.encoders import Standardisation, Whitening
from identica.encoders import whitening as module


def test_whitened_observations_have_unit_covariance(generator: torch.Generator) -> None:
    sample = torch.randn(5000, 4, generator=generator) @ torch.randn(4, 4, generator=generator) + 3
    white = Whitening.fit(sample)(sample)
    assert torch.allclose(torch.cov(white.T), torch.eye(4), atol=1e-3)
    assert torch.allclose(white.mean(dim=0), torch.zeros(4), atol=1e-3)


def test_whitening_leaves_directions_without_variance_out(generator: torch.Generator) -> None:
    flat = torch.randn(500, 2, generator=generator) @ torch.randn(2, 3, generator=generator)
    assert float(Whitening.fit(flat)(flat).abs().max()) < 10


def test_more_codes_than_columns_make_all_directions_even(generator: torch.Generator) -> None:
    sample = torch.randn(500, 3, generator=generator) * torch.tensor([1.0, 5.0, 20.0])
    assert torch.equal(Whitening.fit(sample, dim=8).matrix, Whitening.fit(sample).matrix)


def test_bad_samples_are_refused() -> None:
    with pytest.raises(InputError, match="2 NaN or infinite"):
        Whitening.fit(torch.tensor([[1.0, math.nan], [math.inf, 1.0], [0.0, 0.0]]))
    with pytest.raises(InputError, match="count above dim"):
        Whitening.fit(torch.zeros(2, 5))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.bool, torch.int16, torch.float16, torch.float32, torch.float64])
def test_standardised_images_have_mean_zero_and_deviation_one_in_each_channel(
    dtype: torch.dtype, generator: torch.Generator
) -> None:
    images = torch.randint(0, 256, (40, 3, 8, 6), generator=generator)
    images = (images > 50 if dtype == torch.bool else images * torch.tensor([1, 0.5, 0.25])[:, None, None]).to(dtype)
    standardisation = Standardisation.fit(images)
    standard = standardisation(images)
    assert standardisation.mean.shape == standardisation.deviation.shape == (3,)
    assert standard.dtype == torch.float32
    assert standard.shape == images.shape
    assert torch.allclose(standard.mean(dim=(0, 2, 3)), torch.zeros(3), atol=1e-4)
    assert torch.allclose(standard.std(dim=(0, 2, 3)), torch.ones(3), atol=1e-3)


def test_standardised_features_have_mean_zero_and_deviation_one_or_are_zero(generator: torch.Generator) -> None:
    sample = torch.randn(1000, 3, generator=generator) * torch.tensor([1e-3, 0.0, 5.0]) + torch.tensor([1.0, 0.1, 2.0])
    standardisation = Standardisation.fit(sample)
    assert float(standardisation.deviation[1]) == 1
    standard = standardisation(sample)
    assert standard[:, 1].tolist() == [0] * 1000
    assert torch.allclose(standard[:, [0, 2]].std(dim=0), torch.ones(2), atol=1e-3)
    assert torch.allclose(standard.mean(dim=0), torch.zeros(3), atol=1e-3)


def test_standardisation_fits_fewer_observations_than_features(generator: torch.Generator) -> None:
    sample = torch.randn(4, 10, generator=generator)
    assert torch.allclose(Standardisation.fit(sample)(sample).std(dim=0, correction=0), torch.ones(10))


@pytest.mark.parametrize("entries", [1, 100, 10_000])
def test_the_fit_does_not_depend_on_chunks(
    entries: int, generator: torch.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = torch.rand(10, 2, 5, 5, generator=generator).movedim(2, 3)
    monkeypatch.setattr(module, "_ENTRIES_PER_CHUNK", entries)
    fitted = Standardisation.fit(images)
    assert torch.allclose(fitted.mean, images.mean(dim=(0, 2, 3)))
    assert torch.allclose(fitted.deviation, images.std(dim=(0, 2, 3), correction=0))


def test_the_fit_withstands_a_first_value_far_from_the_others() -> None:
    sample = torch.zeros(1000, 1, dtype=torch.float64)
    sample[0] = 1e12
    assert float(Standardisation.fit(sample).deviation) == pytest.approx(float(sample.std(correction=0)), rel=1e-6)


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        (torch.full((3, 1, 8, 8), 7, dtype=torch.uint8), "must vary, got 3 that are constant and equal"),
        (torch.full((9, 2), 0.1), "must vary"),
        (torch.zeros(3, 8, 8), r"got torch.float32 of shape \[3, 8, 8\]"),
        (torch.zeros(0, 1, 8, 8), r"got torch.float32 of shape \[0, 1, 8, 8\]"),
        (torch.zeros(3, 2, dtype=torch.complex64), "must be real numbers.* got torch.complex64"),
        (torch.tensor([[0.0], [math.nan]]), "1 NaN or infinite of 2"),
    ],
)
def test_samples_that_cannot_be_standardised_are_refused(sample: torch.Tensor, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Standardisation.fit(sample)
