from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from small import small_run

from identica._checks import InputError
from identica.experiments import RunStore, execute, restore
from identica.experiments.restore import run_of


def test_a_restored_encoder_gives_the_stored_codes(runs: Path) -> None:
    run, store = small_run(seed=3), RunStore(runs)
    execute(run, store, device="cpu")
    restored, arrays = restore(store, run.name), store.arrays(run.name)
    assert restored.run.name == run.name
    with torch.no_grad():
        observations = restored.source.mixing(torch.from_numpy(arrays["factors"]))
        codes = restored.h(torch.from_numpy(arrays["factors"]))
    np.testing.assert_allclose(observations.numpy(), arrays["observations"], atol=1e-6)
    np.testing.assert_allclose(codes.numpy(), arrays["codes"], atol=1e-5)


def test_what_cannot_be_restored_is_named(runs: Path) -> None:
    store, baseline = RunStore(runs), small_run(supervised=True)
    with pytest.raises(InputError, match="name must be that of a finished run of the store, got 'nothing'"):
        restore(store, "nothing")
    execute(baseline, store, device="cpu")
    with pytest.raises(InputError, match="contrastive run of a synthetic source, got 'supervised'"):
        restore(store, baseline.name)


def test_a_record_gives_its_run_back() -> None:
    for run in (small_run(seed=3), small_run(supervised=True)):
        again = run_of({"settings": json.loads(json.dumps(run.settings)), "scores": {"mcc": {}, "r2": {}}})
        assert again.name == run.name
        assert (again.learner, again.recipe, again.seed) == (run.learner, run.recipe, run.seed)
