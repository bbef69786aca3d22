from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
import torch
from test_made_up import BlobPairs, Blobs
from torch import Generator, nn
from torch.distributions import Normal, kl_divergence

from identica._checks import InputError
from identica._plain import from_plain, to_plain
from identica.assembly import assemble, fit
from identica.experiments import Row, RunStore, execute
from identica.experiments.restore import known_types
from identica.learners import AdaGVAE, BetaVAE, SlowVAE, VAELearner, VAESettings
from identica.learners.vae import Posterior, shared_posterior
from identica.report import report_of_run, write_page
from identica.training import check_groups

ALL = [BetaVAE(dim=3), SlowVAE(dim=3), AdaGVAE(dim=3)]
SOURCE = BlobPairs(16)


def built(settings: VAESettings) -> VAELearner:
    made = assemble(settings, settings.recipe("fast"), SOURCE, 0)
    assert isinstance(made, VAELearner)
    return made


def test_settings_print_as_tables_call_them() -> None:
    assert [str(one) for one in (BetaVAE(), SlowVAE(), AdaGVAE())] == ["β-VAE", "SlowVAE", "Ada-GVAE"]
    assert str(SlowVAE(gamma=1, dim=5)) == "SlowVAE(dim=5, gamma=1)"
    assert str(BetaVAE(beta=4)) == "β-VAE(beta=4)"
    assert (SlowVAE().dim, SlowVAE().beta, SlowVAE().gamma, SlowVAE().rate) == (10, 1, 10, 6)


@pytest.mark.parametrize("settings", [*ALL, BetaVAE(), SlowVAE(gamma=2)], ids=str)
def test_settings_come_back_from_records(settings: VAESettings) -> None:
    assert from_plain(to_plain(settings), known_types()) == settings


def test_the_paper_protocol_is_the_authors() -> None:
    training = SlowVAE().recipe("paper").training
    assert (training.optimizer, training.learning_rate, training.batch_size) == ("adam", 1e-4, 32)
    assert (training.steps, training.cosine) == (300_000, False)


@pytest.mark.parametrize("settings", ALL, ids=str)
def test_the_loss_is_the_sum_of_its_parts(settings: VAESettings) -> None:
    learner = built(settings)
    loss = learner(*learner.batch(SOURCE, 8, Generator().manual_seed(0)))
    assert float(sum(learner.parts().values())) == pytest.approx(float(loss.detach()), rel=1e-5)
    names = ["reconstruction", "divergence"]
    assert list(learner.parts()) == ([*names, "transition"] if isinstance(settings, SlowVAE) else names)


@pytest.mark.parametrize("settings", ALL, ids=str)
def test_reconstruction_and_divergence_by_hand(settings: VAESettings) -> None:
    learner = built(replace(settings, beta=3.0))
    first, second, *halves = learner.batch(SOURCE, 8, Generator().manual_seed(0))
    learner(first, second, *halves)
    noise = torch.cat(halves)
    images = torch.cat([first, second])
    found = learner.posterior(images)
    found = shared_posterior(found) if isinstance(settings, AdaGVAE) else found
    deviation = (found.log_variance / 2).exp()
    prior = Normal(torch.zeros(()), torch.ones(()))
    divergence = kl_divergence(Normal(found.mean, deviation), prior).sum(dim=1).mean()
    white = torch.sigmoid(learner.decoder(found.mean + deviation * noise))
    pixels = learner.brightness(images)
    errors = nn.functional.binary_cross_entropy(white, pixels, reduction="none").flatten(1).sum(dim=1).mean()
    assert torch.allclose(learner.parts()["divergence"], 3 * divergence, rtol=1e-4)
    assert torch.allclose(learner.parts()["reconstruction"], errors, rtol=1e-4)


def test_without_transitions_a_slow_vae_is_a_beta_vae() -> None:
    slow, plain = built(SlowVAE(dim=3, gamma=0)), built(BetaVAE(dim=3))
    batch = plain.batch(SOURCE, 8, Generator().manual_seed(0))
    assert torch.equal(slow(*batch), plain(*batch))


def test_transitions_do_not_care_which_half_is_first() -> None:
    learner = built(SlowVAE(dim=3))
    first, second, *_ = learner.batch(SOURCE, 8, Generator().manual_seed(0))
    one = learner.divergences(learner.posterior(torch.cat([first, second])))["transition"]
    two = learner.divergences(learner.posterior(torch.cat([second, first])))["transition"]
    assert torch.allclose(one, two)


@pytest.mark.parametrize("settings", ALL, ids=str)
def test_all_parameters_learn_and_codes_are_means(settings: VAESettings) -> None:
    learner = built(settings)
    learner(*learner.batch(SOURCE, 8, Generator().manual_seed(0))).backward()
    assert all(float(value.grad.abs().sum()) > 0 for group in check_groups(learner) for value in group.parameters)
    images = SOURCE.sample(4, Generator().manual_seed(0))
    assert torch.equal(learner.codes(images), learner.posterior(images).mean)
    assert learner.codes(images).shape == (4, 3)


def test_decoded_images_have_the_units_of_the_observations() -> None:
    learner = built(BetaVAE(dim=3))
    bright = BetaVAE(dim=3).build(
        BetaVAE().recipe("fast"), (255 * SOURCE.sample(50, Generator().manual_seed(0))).byte(), Generator()
    )
    codes = torch.randn(5, 3, generator=Generator().manual_seed(1))
    plain, scaled = learner.decode(codes).detach(), bright.decode(codes).detach()
    assert plain.shape == (5, 1, 16, 16)
    assert float(plain.max()) <= 1 < float(scaled.max()) <= 255


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: BetaVAE(beta=-1), "beta must be 0 or a finite number above it, got -1"),
        (lambda: SlowVAE(rate=0), "rate must be a finite number above 0, got 0"),
        (lambda: SlowVAE(gamma=-2), "gamma must be 0 or a finite number above it, got -2"),
        (lambda: AdaGVAE(dim=0), "dim must be a whole number of at least 1, got 0"),
        (
            lambda: AdaGVAE().build(AdaGVAE().recipe("fast"), torch.ones(4, 3), Generator()),
            r"Ada-GVAE needs images of shape \[channels, height, width\], got observations of shape \[3\]",
        ),
    ],
)
def test_bad_input_is_refused(wrong: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        wrong()  # type: ignore[operator]


@pytest.mark.parametrize("settings", ALL, ids=str)
def test_a_short_training_explains_the_images_better(settings: VAESettings) -> None:
    recipe = settings.recipe("fast").with_steps(60)
    recipe = replace(recipe, training=replace(recipe.training, threads=1, warmup=5))
    found = fit(settings, recipe, SOURCE, 0, evaluate=lambda _: {}, evaluate_every=10)
    assert found.curve[-1]["reconstruction"] < 0.6 * found.curve[0]["reconstruction"]
    assert isinstance(found.learner, VAELearner)


@pytest.mark.parametrize("optimizer", ["adam", "muon"])
def test_a_training_that_was_cut_off_ends_as_one_that_was_not(
    optimizer: Literal["adam", "muon"], tmp_path: Path
) -> None:
    class CutError(Exception):
        pass

    def cut(step: int, *_: object) -> None:
        if step == 5:
            raise CutError

    settings, path = SlowVAE(dim=3), tmp_path / "checkpoint.safetensors"
    recipe = settings.recipe("fast").with_steps(8)
    recipe = replace(recipe, training=replace(recipe.training, threads=1, batch_size=4, optimizer=optimizer))
    whole = fit(settings, recipe, SOURCE, 0)
    with pytest.raises(CutError):
        fit(settings, recipe, SOURCE, 0, checkpoint=path, checkpoint_seconds=0, report=cut)
    steps: list[int] = []
    resumed = fit(settings, recipe, SOURCE, 0, checkpoint=path, report=lambda step, *_: steps.append(step))
    assert steps == [5, 6, 7, 8]
    weights = [one.learner.state_dict() for one in (whole, resumed)]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])


def test_a_row_is_run_stored_and_shown(tmp_path: Path) -> None:
    run = Row("blob-2", Blobs(), SlowVAE(dim=3)).run(0, steps=3)
    run = replace(run, recipe=replace(run.recipe, training=replace(run.recipe.training, threads=1)))
    store = RunStore(tmp_path)
    record = execute(run, store, device="cpu")
    assert set(record["curve"][-1]) >= {"step", "loss", "reconstruction", "divergence", "transition"}
    assert record["learner"] == "SlowVAE(dim=3)"
    write_page(report_of_run(record, store.arrays(run.name)), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "It is the sum of its parts: reconstruction, divergence, transition." in page


def test_posteriors_are_plain_pairs() -> None:
    first, second = Posterior(torch.arange(4.0)[:, None], torch.zeros(4, 1)).halves()
    assert (first.mean.flatten().tolist(), second.mean.flatten().tolist()) == ([0, 1], [2, 3])
