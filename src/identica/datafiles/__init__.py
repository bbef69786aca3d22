"""A user's data on disk: tables, arrays and folders of images in, codes out."""

from identica.datafiles.dataset import Dataset
from identica.datafiles.reading import read_array, read_dataset
from identica.datafiles.writing import write_codes

__all__ = ["Dataset", "read_array", "read_dataset", "write_codes"]
