"""Tables, figures and pages from records and fits; never trains."""

from identica.report._canvas import check_picture
from identica.report.curves_figure import describe_curves, draw_curves, summarise_curves
from identica.report.figure2 import describe_figure2, draw_figure2, summarise_figure2
from identica.report.figure3 import draw_figure3, summarise_figure3
from identica.report.figures import plot_factors
from identica.report.page import Report, write_page
from identica.report.sources import report_of_fit, report_of_run
from identica.report.steps_figure import describe_steps, draw_steps, fit_steps, summarise_steps
from identica.report.tables import FORMATS, make_table
from identica.report.theory_figures import plot_limit, plot_similarities, plot_volumes
from identica.report.traversals import decoded_traversals, moved_codes, neighbour_traversals, plot_traversals

__all__ = [
    "FORMATS",
    "Report",
    "check_picture",
    "decoded_traversals",
    "describe_curves",
    "describe_figure2",
    "describe_steps",
    "draw_curves",
    "draw_figure2",
    "draw_figure3",
    "draw_steps",
    "fit_steps",
    "make_table",
    "moved_codes",
    "neighbour_traversals",
    "plot_factors",
    "plot_limit",
    "plot_similarities",
    "plot_traversals",
    "plot_volumes",
    "report_of_fit",
    "report_of_run",
    "summarise_curves",
    "summarise_figure2",
    "summarise_figure3",
    "summarise_steps",
    "write_page",
]
