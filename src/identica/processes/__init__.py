"""Where positive pairs come from."""

from identica.processes.arrays import ArrayPairs, lagged_pairs
from identica.processes.base import Process
from identica.processes.mixing import LeakyReLUMixing
from identica.processes.synthetic import SyntheticProcess

__all__ = ["ArrayPairs", "LeakyReLUMixing", "Process", "SyntheticProcess", "lagged_pairs"]
