"""Where positive pairs come from."""

from identica.processes.base import Process
from identica.processes.mixing import LeakyReLUMixing
from identica.processes.synthetic import SyntheticProcess

__all__ = ["LeakyReLUMixing", "Process", "SyntheticProcess"]
