"""Fit CEBRA to one recording; run by `recordings.py` with the interpreter of an environment that has CEBRA.

python cebra_worker.py INPUT.npz OUTPUT.npz

The input holds `x` (all rows), `fitted` (numbers of the rows to fit), `settings` (JSON text for `cebra.CEBRA`), and
`labels` (of all rows) if pairs come from behaviour. The output holds `codes` of all rows and `seconds` of
processor time of the fit.
"""

import json
import sys
import time

import cebra
import numpy as np
import torch


def main(given: str, target: str) -> None:
    torch.set_num_threads(1)
    with np.load(given) as arrays:
        x, fitted, settings = arrays["x"], arrays["fitted"], json.loads(str(arrays["settings"]))
        labels = arrays.get("labels")
    np.random.seed(settings["seed"])
    torch.manual_seed(settings.pop("seed"))
    model = cebra.CEBRA(**settings, device="cpu", verbose=False)
    started = time.process_time()
    model.fit(x[fitted], *([] if labels is None else [labels[fitted]]))
    seconds = time.process_time() - started
    np.savez(target, codes=model.transform(x), seconds=seconds)


if __name__ == "__main__":
    main(*sys.argv[1:])
