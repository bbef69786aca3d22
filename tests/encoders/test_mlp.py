from __future__ import annotations

import torch

from identica.encoders import MLP


def test_the_paper_network_has_its_widths_and_slope(generator: torch.Generator) -> None:
    network = MLP(10, 10, MLP.paper_widths(10), generator=generator)
    linear = [layer for layer in network if isinstance(layer, torch.nn.Linear)]
    assert [layer.out_features for layer in linear] == [100, 500, 500, 500, 500, 100, 10]
    assert {layer.negative_slope for layer in network if isinstance(layer, torch.nn.LeakyReLU)} == {0.01}
    assert network(torch.zeros(3, 10)).shape == (3, 10)


def test_weights_come_from_the_generator_alone() -> None:
    before = torch.get_rng_state()
    one, two = (MLP(4, 2, [8], generator=torch.Generator().manual_seed(1)) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))
