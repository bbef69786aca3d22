from __future__ import annotations

import torch

from identica.training import Muon, orthogonalise


def test_orthogonalised_matrices_have_singular_values_near_one(generator: torch.Generator) -> None:
    for shape in ((20, 20), (10, 40), (40, 10)):
        matrix = torch.randn(shape, generator=generator)
        left, _, right = torch.linalg.svd(matrix, full_matrices=False)
        result = orthogonalise(matrix)
        values = torch.linalg.svdvals(result)
        assert result.dtype == torch.float32
        assert float(values.min()) > 0.3
        assert float(values.max()) < 1.3
        aligned = (left.T @ result @ right.T).diagonal()
        assert float(aligned.min()) > 0.3  # the singular vectors are kept


def test_muon_solves_a_matrix_regression(generator: torch.Generator) -> None:
    target, inputs = torch.randn(8, 8, generator=generator), torch.randn(256, 8, generator=generator)
    weight = torch.nn.Parameter(torch.zeros(8, 8))
    optimizer = Muon([weight], lr=0.1)
    for step in range(300):
        optimizer.param_groups[0]["lr"] = 0.1 * (1 - step / 300)
        optimizer.zero_grad()
        (inputs @ (weight - target).T).square().mean().backward()
        optimizer.step()
    assert torch.allclose(weight.detach(), target, atol=0.05)
