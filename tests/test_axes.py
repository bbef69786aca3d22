from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Generator

from identica import ContrastiveICA
from identica._checks import InputError
from identica.axes import second_order_axes, slow_directions
from identica.learners import Contrastive
from identica.metrics import mcc
from identica.models import Model
from identica.spaces import Box, Real, Sphere


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


def test_slow_directions_are_those_in_which_partners_differ_least() -> None:
    latents, first, second = turned_pairs([0.05, 0.2, 0.8])
    codes = first @ slow_directions(first, second, 2, noise=0.0)
    assert mcc(latents[:, :2], codes).value > 0.999
    assert codes.std(dim=0).numpy() == pytest.approx(1, abs=0.05)
    # A direction of hardly any variance, equal in both partners, is no slow feature.
    still = 1e-3 * torch.randn(len(first), 1, generator=Generator().manual_seed(1), dtype=torch.float64)
    wider = [torch.cat([values, still], dim=1) for values in (first, second)]
    fooled, found = (wider[0] @ slow_directions(*wider, 1, noise) for noise in (0.0, 0.1))
    assert mcc(still, fooled).value > 0.99
    assert mcc(still, found).value < 0.1


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


def test_a_turned_model_is_saved_and_loaded(tmp_path: Path) -> None:
    _, first, second = turned_pairs([0.1, 0.9], 500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = ContrastiveICA(
            2, space="unbounded", conditional="normal", axes="second-order", max_steps=5, random_state=0
        ).fit(first.numpy(), second.numpy())
    fitted.save(tmp_path / "model")
    again = ContrastiveICA.load(tmp_path / "model")
    assert (again.transform(first.numpy()) == fitted.transform(first.numpy())).all()
    assert (again.widths_ == fitted.widths_).all()


def pairs_on_a_sphere(widths: list[float], count: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Points on a sphere, turned; and partners with normal noise of these widths, on the sphere too."""
    generator = Generator().manual_seed(0)
    dim = len(widths)
    points = Sphere(dim).uniform(count, generator).double()
    noise = torch.randn(count, dim, generator=generator, dtype=torch.float64)
    near = torch.nn.functional.normalize(points + torch.tensor(widths) * noise, dim=1)
    turn = torch.linalg.qr(torch.randn(dim, dim, generator=generator, dtype=torch.float64)).Q
    return points, points @ turn, near @ turn


def test_on_a_sphere_the_axes_are_a_rotation() -> None:
    points, first, second = pairs_on_a_sphere([0.03, 0.1, 0.3], 10_000)
    axes = second_order_axes(first, second, rotation=True)
    assert torch.allclose(axes.T @ axes, torch.eye(3, dtype=torch.float64), atol=1e-9)
    codes = first @ axes
    assert torch.allclose(codes.norm(dim=1), torch.ones(10_000, dtype=torch.float64))
    assert mcc(points, codes).value > 0.999
    differences = torch.cov(((second - first) @ axes).T)
    assert torch.allclose(differences, differences.diag().diag(), atol=1e-9)
    assert (differences.diag().diff() > 0).all(), "from the smallest width to the largest"


def test_on_a_sphere_it_is_for_normal_noise_of_free_widths() -> None:
    settings = Contrastive(Model(Sphere(3), "normal", "free"), "second-order")
    assert settings.ambiguity == "permutation"
    for model in (
        Model(Sphere(3), "normal"),
        Model(Sphere(3), "vmf"),
        Model(Sphere(3), "laplace", "free"),
        Model(Box(3), "normal", "free"),
    ):
        with pytest.raises(InputError, match="normal noise of free widths on a sphere, got"):
            Contrastive(model, "second-order")


@pytest.mark.filterwarnings("ignore:two components differ by the same width")
def test_the_estimator_turns_its_components_on_a_sphere(tmp_path: Path) -> None:
    _, first, second = (points.numpy() for points in pairs_on_a_sphere([0.05, 0.15, 0.4], 500))
    settings = {"space": "sphere", "conditional": "normal", "max_steps": 20, "batch_size": 64, "random_state": 0}
    plain, turned = (ContrastiveICA(3, axes=axes, **settings).fit(first, second) for axes in ("learnt", "second-order"))
    codes, partners = turned.transform(first), turned.transform(second)
    assert np.allclose(np.linalg.norm(codes, axis=1), 1, atol=1e-4)
    differences = np.cov((partners - codes).T)
    assert np.allclose(differences, np.diag(np.diag(differences)), atol=1e-4 * differences.max())
    before = np.cov((plain.transform(second) - plain.transform(first)).T)
    assert np.allclose(np.linalg.eigvalsh(before), np.sort(np.diag(differences)), rtol=1e-3), "the codes are the same"
    assert (plain.ambiguity_, turned.ambiguity_) == ("permutation", "permutation")
    turned.save(tmp_path / "model")
    assert np.array_equal(ContrastiveICA.load(tmp_path / "model").transform(first), codes)
