"""A user's data on disk: tables, arrays, motion capture and folders of images in, codes out."""

from identica._folders import data_folder
from identica.datafiles.bvh import Motion, read_bvh
from identica.datafiles.dataset import Dataset
from identica.datafiles.downloads import DOWNLOADS, Download, download, fetch
from identica.datafiles.reading import read_array, read_dataset
from identica.datafiles.writing import check_codes, write_codes

__all__ = [
    "DOWNLOADS",
    "Dataset",
    "Download",
    "Motion",
    "check_codes",
    "data_folder",
    "download",
    "fetch",
    "read_array",
    "read_bvh",
    "read_dataset",
    "write_codes",
]
