"""A fitted estimator on disk: weights as safetensors, everything else as JSON. Reading it runs nothing."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Generator, nn

from identica._checks import InputError
from identica._files import replacing
from identica._machine import versions
from identica._places import MODEL_SETTINGS, check_model
from identica.encoders import (
    MLP,
    ConvNet,
    Encoder,
    GlimpseResNet,
    LightResNet,
    NormalisedHead,
    ResNet18,
    Standardisation,
    Stretch,
    Turn,
    Units,
    Whitening,
    make_backbone,
    make_head,
    scaling_like,
)
from identica.models import Model

if TYPE_CHECKING:
    from identica.estimator import ContrastiveICA

__all__ = ["load", "save"]

_FORMAT = 3
_SETTINGS, _WEIGHTS = MODEL_SETTINGS, "weights.safetensors"
_OWN = "a module of the user's own"
_FITTED = (
    "n_features_in_",
    "observation_shape_",
    "n_components_",
    "scales_",
    "components_used_",
    "n_steps_",
    "n_pairs_",
    "n_held_out_pairs_",
    "validation_score_",
    "validation_error_",
    "fitted_bits_",
    "agreement_",
    "chosen_",
    "search_",
    "loss_curve_",
)
# Older models do without these.
_NEWER = ("agreement_",)


def save(estimator: ContrastiveICA, path: Path) -> None:
    """Write the folder under a temporary name, then give it its own; an older model there is replaced as a whole."""
    from safetensors.torch import save_file

    check_model("path", path, overwrite=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{os.getpid()}.{path.name}")
    unfinished.mkdir()
    try:
        weights = {name: value.contiguous() for name, value in estimator.encoder_.state_dict().items()}
        with replacing(unfinished / _WEIGHTS) as temporary:
            save_file(weights, temporary)
        (unfinished / _SETTINGS).write_text(json.dumps(_describe(estimator), indent=1) + "\n", encoding="utf-8")
        if path.exists():
            older = path.with_name(f".{os.getpid()}.{path.name}.old")
            path.rename(older)
            unfinished.rename(path)
            shutil.rmtree(older)
        else:
            unfinished.rename(path)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def load(kind: type[ContrastiveICA], path: Path, own: nn.Module | None) -> ContrastiveICA:
    """Rebuild the estimator; `own` is the network if it was one of the user's own."""
    content = _read(path)
    try:
        parameters, fitted = content["parameters"], content["fitted"]
        if (parameters["encoder"] == _OWN) != (own is not None):
            needed = "needs" if own is None else "has no use for"
            raise InputError(f"the model in {str(path)!r} {needed} encoder=, a module of the user's own")
        estimator = kind(**{**parameters, "encoder": own or parameters["encoder"]})
        for name in _FITTED:
            setattr(estimator, name, fitted.get(name) if name in _NEWER else fitted[name])
        estimator.observation_shape_ = tuple(estimator.observation_shape_)
        estimator.scales_ = np.array(fitted["scales_"], dtype=np.float64)
        estimator.components_used_ = np.array(fitted["components_used_"], dtype=np.int64)
        if fitted["feature_names_in_"] is not None:
            estimator.feature_names_in_ = np.array(fitted["feature_names_in_"], dtype=object)
        estimator.model_ = Model.named(
            estimator.space, estimator.conditional, estimator.n_components_, estimator.widths
        )
        estimator.encoder_ = _rebuild(estimator, content["network"], own)
    except (KeyError, TypeError) as error:
        raise InputError(f"{str(path / _SETTINGS)!r} is not a model of this kind: {error!r} does not fit") from None
    _load_weights(estimator.encoder_, path / _WEIGHTS)
    return estimator


def _describe(estimator: ContrastiveICA) -> dict[str, Any]:
    parameters = estimator.get_params(deep=False)
    if isinstance(parameters["encoder"], nn.Module):
        parameters["encoder"] = _OWN
    parameters["device"] = str(parameters["device"])
    if not isinstance(parameters["random_state"], int | None):
        parameters["random_state"] = None  # a generator that has moved on since
    names = getattr(estimator, "feature_names_in_", None)
    encoder = estimator.encoder_[0]
    backbone = encoder.backbone
    return {
        "format": _FORMAT,
        "parameters": {name: _plain(value) for name, value in parameters.items()},
        "fitted": {
            **{name: _plain(getattr(estimator, name)) for name in _FITTED},
            "feature_names_in_": None if names is None else [str(name) for name in names],
        },
        "conditional": estimator.conditional_,
        "identified_up_to": estimator.ambiguity_,
        "network": {
            "kind": _kind(backbone),
            "front": type(encoder.whitening).__name__,
            "normalised": isinstance(encoder.head, NormalisedHead),
            "stretched": isinstance(encoder.stretch, Stretch),
            "widths": list(backbone.widths) if isinstance(backbone, MLP) else [],
            "slope": backbone.slope if isinstance(backbone, MLP) else 0.0,
            "fold": backbone.fold if isinstance(backbone, ConvNet) else 1,
        },
        "versions": versions(),
    }


def _kind(backbone: Any) -> str:
    """The name of the network, as `make_backbone` knows it."""
    if isinstance(backbone, MLP):
        return "mlp" if backbone.widths else "linear"
    kinds: dict[type[nn.Module], str] = {
        ConvNet: "conv",
        LightResNet: "light",
        GlimpseResNet: "glimpse",
        ResNet18: "resnet",
    }
    return kinds.get(type(backbone), "own")


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple | range):
        return [_plain(one) for one in value]
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def _read(path: Path) -> dict[str, Any]:
    if not (path / _SETTINGS).is_file():
        raise InputError(f"path must be the folder of a saved model, but {str(path)!r} has no {_SETTINGS}")
    try:
        content = json.loads((path / _SETTINGS).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{str(path / _SETTINGS)!r} cannot be read: {error}") from None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise InputError(f"{str(path / _SETTINGS)!r} must be a model of format {_FORMAT}")
    return content


def _rebuild(estimator: ContrastiveICA, network: dict[str, Any], own: nn.Module | None) -> nn.Sequential:
    """The network with weights yet to be read."""
    shape, dim = estimator.observation_shape_, estimator.n_components_
    if len(shape) == 1:
        shape = (shape[0] * int(estimator.chosen_["window"]),)
    channels = shape[0]
    fronts: dict[str, Whitening | Standardisation | None] = {
        "Identity": None,
        "Whitening": Whitening(torch.zeros(channels), torch.zeros(channels, channels)),
        "Standardisation": Standardisation(torch.zeros(channels), torch.ones(channels)),
    }
    backbone = own or make_backbone(
        network["kind"],
        shape,
        dim,
        generator=Generator(),
        widths=network["widths"],
        slope=network["slope"],
        fold=network.get("fold", 1),
    )
    head = make_head(estimator.model_.space, normalised=network.get("normalised", True))
    units = Units(torch.zeros(dim), torch.ones(dim))
    stretch = Stretch(dim) if network.get("stretched", estimator.model_.has_free_widths) else None
    scaling = scaling_like(estimator.chosen_["scaling"], channels)
    encoder = Encoder(backbone, head, fronts[network["front"]], stretch, scaling)
    turn = nn.Identity() if estimator.axes == "learnt" else Turn(torch.eye(dim))
    return nn.Sequential(encoder, turn, units).eval().requires_grad_(False)


def _load_weights(encoder: nn.Module, path: Path) -> None:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        with path.open("rb"):
            pass  # says who may not read it, where the library below says that it is not there
        encoder.load_state_dict(load_file(path))
    except (OSError, SafetensorError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{str(path)!r} cannot be read as the weights of this model: {reason}") from None
