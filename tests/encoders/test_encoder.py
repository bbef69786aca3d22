from __future__ import annotations

import torch

from identica.encoders import MLP, BoxHead, ConvNet, Encoder, RealHead, Standardisation, Whitening


def test_encoder_chains_its_parts(generator: torch.Generator) -> None:
    sample = torch.rand(100, 5, generator=generator)
    encoder = Encoder(MLP(5, 3, [16], generator=generator), BoxHead(3), Whitening.fit(sample))
    assert encoder(sample).shape == (100, 3)
    assert {name.split(".")[0] for name, _ in encoder.named_parameters()} == {"backbone", "head"}


def test_encoder_takes_images_of_bytes(generator: torch.Generator) -> None:
    images = torch.randint(0, 256, (5, 3, 16, 16), dtype=torch.uint8, generator=generator)
    encoder = Encoder(ConvNet(3, 16, 16, 4, generator=generator), RealHead(4), Standardisation.fit(images))
    assert encoder(images).shape == (5, 4)
    assert {"whitening.mean", "whitening.deviation"} <= set(encoder.state_dict())
