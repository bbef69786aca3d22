"""Tables and figures from records; never trains."""

from identica.report.figures import plot_factors
from identica.report.tables import FORMATS, make_table

__all__ = ["FORMATS", "make_table", "plot_factors"]
