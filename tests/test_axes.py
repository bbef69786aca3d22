from __future__ import annotations

import warnings

import pytest
import torch
from torch import Generator

from identica import ContrastiveICA
from identica._checks import InputError
from identica.axes import second_order_axes
from identica.learners import Contrastive
from identica.metrics import mcc
from identica.models import Model
from identica.spaces import Box, Real


def turned_pairs(widths: list[float], count: int = 20_000) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = Generator().manual_seed(0)
    dim = len(widths)
    latents = torch.randn(count, dim, generator=generator, dtype=torch.float64)
    noise = torch.randn(count, dim, generator=generator, dtype=torch.float64)
    matrix = torch.randn(dim, dim, generator=generator, dtype=torch.float64)
    return latents, latents @ matrix, (latents + torch.tensor(widths) * noise) @ matrix


def test_different_widths_single_out_one_basis() -> None:
    latents, first, second = turned_pairs([0.05, 0.2, 0.8])
    codes = first @ second_order_axes(first, second)
    assert mcc(latents, codes).value > 0.999
    for values in (codes, (second - first) @ second_order_axes(first, second)):
        covariance = torch.cov(values.T)
        assert float((covariance - covariance.diag().diag()).abs().max()) < 0.02


def test_equal_widths_are_said_to_leave_the_axes_open() -> None:
    _, first, second = turned_pairs([0.2, 0.2, 0.8])
    with pytest.warns(UserWarning, match="second-order axes between them are arbitrary"):
        second_order_axes(first, second)


def test_it_is_for_models_that_leave_a_rotation() -> None:
    settings = Contrastive(Model(Real(2), "normal"), "second-order")
    assert (settings.ambiguity, str(settings)) == ("permutation", "unbounded, normal, second-order axes")
    assert Contrastive(Model(Real(2), "normal")).ambiguity == "affine map"
    with pytest.raises(InputError, match=r"leaves an affine map open .* got box, laplace, which leaves a permutation"):
        Contrastive(Model(Box(2), "laplace"), "second-order")
    with pytest.raises(InputError, match="unknown axes 'second'"):
        Contrastive(Model(Real(2), "normal"), "second")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="more pairs than d"):
        second_order_axes(torch.zeros(2, 3), torch.zeros(2, 3))


def test_the_estimator_turns_its_components() -> None:
    latents, first, second = turned_pairs([0.1, 0.9], 3000)
    made = [
        ContrastiveICA(
            2,
            space="unbounded",
            conditional="normal",
            axes=axes,
            widths="free",
            encoder="linear",
            max_steps=150,
            random_state=0,
        ).fit(first.numpy(), second.numpy())
        for axes in ("learnt", "second-order")
    ]
    scores = [mcc(latents, one.transform(first.numpy())).value for one in made]
    assert scores[1] > 0.99
    assert made[1].ambiguity_ == "permutation"
    assert sorted(made[1].widths_) == pytest.approx([0.1, 0.9], rel=0.2)


def test_a_turned_model_is_saved_and_loaded(tmp_path: object) -> None:
    from pathlib import Path

    _, first, second = turned_pairs([0.1, 0.9], 500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = ContrastiveICA(
            2, space="unbounded", conditional="normal", axes="second-order", max_steps=5, random_state=0
        ).fit(first.numpy(), second.numpy())
    fitted.save(Path(str(tmp_path)) / "model")
    again = ContrastiveICA.load(Path(str(tmp_path)) / "model")
    assert (again.transform(first.numpy()) == fitted.transform(first.numpy())).all()
    assert (again.widths_ == fitted.widths_).all()
