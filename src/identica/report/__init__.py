"""Tables, figures and pages from records and fits; never trains."""

from identica.report.figures import plot_factors
from identica.report.page import Report, write_page
from identica.report.sources import report_of_fit, report_of_run
from identica.report.tables import FORMATS, make_table

__all__ = ["FORMATS", "Report", "make_table", "plot_factors", "report_of_fit", "report_of_run", "write_page"]
