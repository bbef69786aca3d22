from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import platformdirs
import pytest
from numpy.typing import NDArray
from PIL import Image

from identica._checks import InputError
from identica.datafiles import Dataset, data_folder, read_array, read_dataset, write_codes

X = np.random.default_rng(0).normal(size=(12, 3))
X_POS = X + 0.1
NAMES = ("speed", "height", "angle")
IMAGES = np.random.default_rng(1).integers(0, 256, size=(5, 3, 4, 6), dtype=np.uint8)
PAIRS = np.array([[0, 1], [2, 3], [11, 0]])
TRIALS = np.repeat(["a", "b", "c"], 4)

Files = dict[str, Any]


def write(folder: Path, files: Files) -> None:
    """Write each file by what it holds: text, bytes, a table, an image, or arrays by name."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        match content:
            case str():
                path.write_text(content, encoding="utf-8")
            case bytes():
                path.write_bytes(content)
            case pd.DataFrame() if path.suffix == ".parquet":
                content.to_parquet(path)
            case pd.DataFrame():
                content.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
            case Image.Image():
                content.save(path)
            case np.ndarray() | np.float64():
                np.save(path, content)
            case dict() if path.suffix == ".npz":
                np.savez(path, **content)
            case dict():
                with h5py.File(path, "w") as file:
                    for key, array in content.items():
                        file[key] = array


def table(positives: bool = False, **more: Any) -> pd.DataFrame:
    frame = pd.DataFrame(X, columns=list(NAMES))
    if positives:
        frame = frame.join(pd.DataFrame(X_POS, columns=[f"{name}_pos" for name in NAMES]))
    return frame.assign(**more)


def grey(shade: int = 0, size: tuple[int, int] = (6, 4)) -> Image.Image:
    return Image.new("L", size, shade)


def cut(folder: Path, name: str, keep: float = 0.6) -> None:
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: int(keep * len(content))])


def same(actual: NDArray[Any] | None, expected: Any) -> None:
    assert actual is not None
    assert actual.flags.c_contiguous
    assert actual.flags.writeable
    np.testing.assert_array_equal(actual, expected)


# --- tables


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".CSV"])
def test_a_table_has_a_feature_in_each_column(tmp_path: Path, suffix: str) -> None:
    write(tmp_path, {f"data{suffix}": table()})
    data = read_dataset(tmp_path / f"data{suffix}")
    same(data.observations, X)
    assert data.names == NAMES
    assert (data.positives, data.pairs, data.trials) == (None, None, None)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_columns_with_pos_hold_the_partners_whatever_their_order(tmp_path: Path, suffix: str) -> None:
    frame = table(positives=True, session=TRIALS)
    write(tmp_path, {f"data{suffix}": frame[sorted(frame.columns, reverse=True)]})
    data = read_dataset(tmp_path / f"data{suffix}", columns=NAMES, trial="session")
    same(data.observations, X)
    same(data.positives, X_POS)
    same(data.trials, TRIALS)
    every = read_dataset(tmp_path / f"data{suffix}", trial="session")
    assert every.names == ("speed", "height", "angle")
    same(every.positives, X_POS)


def test_columns_are_taken_in_the_order_they_are_named(tmp_path: Path) -> None:
    write(tmp_path, {"data.csv": table(positives=True, subject="anna", fixed=1.0)})
    data = read_dataset(tmp_path / "data.csv", columns=["angle", "speed"])
    assert data.names == ("angle", "speed")
    same(data.observations, X[:, [2, 0]])
    same(data.positives, X_POS[:, [2, 0]])
    both = read_dataset(tmp_path / "data.csv", columns=["angle", "angle_pos"])
    assert both.names == ("angle",)
    same(both.positives, X_POS[:, [2]])


def test_columns_that_merely_end_in_pos_can_be_chosen(tmp_path: Path) -> None:
    write(tmp_path, {"data.csv": "x_pos,y_pos\n1,2\n3,4\n"})
    data = read_dataset(tmp_path / "data.csv", columns=["y_pos", "x_pos"])
    same(data.observations, [[2.0, 1.0], [4.0, 3.0]])
    assert data.positives is None


def test_an_index_column_is_left_out_by_choosing_others(tmp_path: Path) -> None:
    table().to_csv(tmp_path / "data.csv")
    assert read_dataset(tmp_path / "data.csv", columns=["speed"]).names == ("speed",)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pd.Series([1, 1, 2]), "i"),
        (pd.Series([0.5, 1.5, 1.5]), "f"),
        (pd.Series(["a", "b", "b"]), "U"),
        (pd.Series(["a", "b", "b"], dtype="category"), "U"),
        (pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-02"])), "M"),
    ],
)
def test_labels_are_of_any_type(tmp_path: Path, column: Any, kind: str) -> None:
    write(tmp_path, {"data.parquet": pd.DataFrame({"x": [1.0, 2.0, 3.0], "day": column})})
    trials = read_dataset(tmp_path / "data.parquet", trial="day").trials
    assert trials is not None
    assert trials.dtype.kind == kind
    assert list(trials[1:] == trials[:-1]) == list(column[1:].to_numpy() == column[:-1].to_numpy())


def test_numbers_of_tables_become_float64_unless_all_are_float32(tmp_path: Path) -> None:
    mixed = table(count=range(12), flag=[True, False] * 6).astype({"speed": "float32"})
    write(tmp_path, {"single.parquet": table().astype("float32"), "mixed.parquet": mixed})
    same(read_dataset(tmp_path / "single.parquet").observations, X.astype(np.float32))
    assert read_dataset(tmp_path / "single.parquet").observations.dtype == np.float32
    assert read_dataset(tmp_path / "mixed.parquet").observations.dtype == np.float64


def test_nullable_columns_and_columns_named_by_numbers_are_read(tmp_path: Path) -> None:
    write(tmp_path, {"data.parquet": pd.DataFrame({0: pd.array([1, 2, 4], dtype="Int64"), 1: [0.5, 1.5, 2.5]})})
    data = read_dataset(tmp_path / "data.parquet")
    assert data.names == ("0", "1")
    same(data.observations, [[1, 0.5], [2, 1.5], [4, 2.5]])


def test_text_of_other_programs_is_read(tmp_path: Path) -> None:
    write(tmp_path, {"data.csv": b'\xef\xbb\xbf"speed", "h, w"\r\n1, 2\r\n\r\n3, 4.5e1\r\n'})
    data = read_dataset(tmp_path / "data.csv")
    assert data.names == ("speed", "h, w")
    same(data.observations, [[1, 2], [3, 45]])


# --- arrays


@pytest.mark.parametrize("name", ["data.npz", "data.h5", "data.hdf5"])
def test_files_of_arrays_hold_observations_partners_and_labels(tmp_path: Path, name: str) -> None:
    labels = np.arange(12) // 4
    write(tmp_path, {name: {"x": X, "x_pos": X_POS, "trials": labels, "other": TRIALS.astype("S1")}})
    data = read_dataset(tmp_path / name)
    same(data.observations, X)
    same(data.positives, X_POS)
    same(data.trials, labels)
    assert data.names == ("x0", "x1", "x2")
    assert data.pairs is None
    same(read_dataset(tmp_path / name, trial="other").trials, TRIALS)
    some = read_dataset(tmp_path / name, columns=["x2", "x0"])
    same(some.observations, X[:, [2, 0]])
    same(some.positives, X_POS[:, [2, 0]])
    assert some.names == ("x2", "x0")


@pytest.mark.parametrize("name", ["data.npz", "data.h5"])
def test_files_of_arrays_hold_pairs(tmp_path: Path, name: str) -> None:
    write(tmp_path, {name: {"x": X, "pairs": PAIRS.astype(float)}})
    data = read_dataset(tmp_path / name)
    same(data.pairs, PAIRS)
    assert data.pairs is not None
    assert data.pairs.dtype == np.int64


def test_labels_of_h5_files_may_be_text_in_groups(tmp_path: Path) -> None:
    write(tmp_path, {"data.h5": {"x": X, "session/trials": [f"tag {label}" for label in TRIALS]}})
    for name in ("session/trials", "/session/trials"):
        same(read_dataset(tmp_path / "data.h5", trial=name).trials, [f"tag {label}" for label in TRIALS])


def test_an_npy_file_is_x_alone(tmp_path: Path) -> None:
    write(tmp_path, {"data.npy": X})
    assert isinstance(read_dataset(tmp_path / "data.npy"), Dataset)
    same(read_dataset(tmp_path / "data.npy").observations, X)


@pytest.mark.parametrize(
    ("stored", "dtype"),
    [("int32", "float64"), ("bool", "float64"), ("float16", "float32"), (">f4", "float32"), (">f8", "float64")],
)
def test_numbers_become_floats_that_can_be_computed_with(tmp_path: Path, stored: str, dtype: str) -> None:
    values = np.asfortranarray((10 * X > 0 if stored == "bool" else 10 * X).astype(stored))
    write(tmp_path, {"data.npy": values})
    observations = read_dataset(tmp_path / "data.npy").observations
    assert observations.dtype == np.dtype(dtype)
    same(observations, values.astype(dtype))


def test_one_axis_is_one_feature(tmp_path: Path) -> None:
    write(tmp_path, {"data.npy": X[:, 0]})
    same(read_dataset(tmp_path / "data.npy").observations, X[:, :1])


def test_a_constant_column_of_an_array_can_be_left_out(tmp_path: Path) -> None:
    write(tmp_path, {"data.npy": np.column_stack([X, np.ones(12)])})
    same(read_dataset(tmp_path / "data.npy", columns=["x0", "x1", "x2"]).observations, X)


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        (IMAGES, IMAGES),
        (IMAGES.transpose(0, 2, 3, 1), IMAGES),
        (IMAGES[:, 0], IMAGES[:, :1]),
        (IMAGES[:, 0, :, :, None], IMAGES[:, :1]),
        (IMAGES.astype(np.float32), IMAGES.astype(np.float32)),
        (IMAGES[:, :, :, :3], IMAGES[:, :, :, :3]),
    ],
    ids=["channels first", "channels last", "no channels", "one channel last", "floats", "both could be channels"],
)
def test_arrays_of_images_get_their_channels_first(tmp_path: Path, stored: Any, expected: Any) -> None:
    write(tmp_path, {"data.npz": {"x": stored, "x_pos": stored[::-1]}})
    data = read_dataset(tmp_path / "data.npz")
    same(data.observations, expected)
    same(data.positives, expected[::-1])
    assert data.observations.dtype == stored.dtype
    assert data.names == ()


# --- folders of images and lists of pairs


def test_a_folder_of_grey_images_is_read_in_natural_order(tmp_path: Path) -> None:
    palette = Image.new("P", (6, 4), 1)
    palette.putpalette([0, 0, 0, 9, 9, 9])
    images = {"img10.png": grey(10), "IMG2.bmp": grey(2), "img9.png": palette, "img1.png": Image.new("1", (6, 4), 1)}
    write(tmp_path, images | {"notes.txt": "not an image", "._img3.png": "leftover", "inside/img4.png": grey(4)})
    data = read_dataset(tmp_path)
    assert data.observations.shape == (4, 1, 4, 6)
    assert data.observations.dtype == np.uint8
    assert data.observations[:, 0, 0, 0].tolist() == [255, 2, 9, 10]
    assert data.names == ()


def test_one_image_in_colour_makes_all_of_them_rgb(tmp_path: Path) -> None:
    opaque = Image.new("RGBA", (6, 4), (1, 2, 3, 255))
    write(tmp_path, {"a.png": grey(7), "b.png": Image.fromarray(IMAGES[0].transpose(1, 2, 0)), "c.png": opaque})
    observations = read_dataset(tmp_path).observations
    same(observations[0], np.full((3, 4, 6), 7))
    same(observations[1], IMAGES[0])
    assert observations[2, :, 0, 0].tolist() == [1, 2, 3]


@pytest.mark.parametrize("suffix", [".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".PNG"])
def test_all_formats_of_images_are_read(tmp_path: Path, suffix: str) -> None:
    write(tmp_path, {f"{shade}{suffix}": Image.new("RGB", (6, 4), (shade, shade, 0)) for shade in (0, 100, 200)})
    observations = read_dataset(tmp_path).observations
    assert observations.shape == (3, 3, 4, 6)
    np.testing.assert_allclose(observations[:, 0].mean((1, 2)), [0, 100, 200], atol=3)


def test_a_file_of_several_images_is_refused_unless_the_others_are_previews(tmp_path: Path) -> None:
    for shade in (0, 200):
        grey(shade).save(tmp_path / f"{shade}.jpg", format="MPO", save_all=True, append_images=[grey(9)])
    assert read_dataset(tmp_path).observations.shape == (2, 1, 4, 6)
    grey().save(tmp_path / "300.tif", save_all=True, append_images=[grey(9)])
    with pytest.raises(InputError, match=r"300\.tif' must be a single image, got 2 frames"):
        read_dataset(tmp_path)


@pytest.mark.parametrize("header", ["", "first,second\n"])
def test_images_pair_up_by_their_names(tmp_path: Path, header: str) -> None:
    write(tmp_path, {f"img{shade}.png": grey(shade) for shade in (1, 2, 10)})
    write(tmp_path, {"pairs.csv": header + "img1.png,img10.png\n\nimg2.png, img1.png\n"})
    same(read_dataset(tmp_path, pairs=tmp_path / "pairs.csv").pairs, [[0, 2], [1, 0]])


@pytest.mark.parametrize("name", ["data.npy", "data.csv"])
@pytest.mark.parametrize("header", ["", "first\tsecond\n"])
def test_rows_pair_up_by_their_numbers(tmp_path: Path, name: str, header: str) -> None:
    write(tmp_path, {name: X if name == "data.npy" else table(), "pairs.tsv": header + "0\t1\n2.0\t3\n11\t0"})
    same(read_dataset(tmp_path / name, pairs=tmp_path / "pairs.tsv").pairs, PAIRS)


# --- what cannot be used


@dataclass(frozen=True)
class Bad:
    """Files, the call that reads them, and the words of the error."""

    files: Files
    path: str
    words: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)
    cut: bool = False


def with_value(value: float, row: int = 7, column: int = 1) -> NDArray[Any]:
    values = X.copy()
    values[row, column] = value
    return values


TWO = {"a.png": grey(1), "b.png": grey(2)}
BAD = {
    "missing file": Bad({}, "data.csv", ("data", "data.csv", "does not exist")),
    "missing pairs": Bad({"x.npy": X}, "x.npy", ("pairs", "p.csv", "does not"), {"pairs": "p.csv"}),
    "unknown suffix": Bad({"x.sav": b"?"}, "x.sav", ("folder of images", ".npz", ".csv", ".parquet", "suffix '.sav'")),
    "no suffix": Bad({"x": b"?"}, "x", (".npz", "no suffix")),
    "unknown suffix of pairs": Bad(
        {"x.npy": X, "p.txt": "0,1"}, "x.npy", ("pairs", ".csv", ".txt"), {"pairs": "p.txt"}
    ),
    # broken files
    "empty csv": Bad({"x.csv": ""}, "x.csv", ("x.csv", "cannot be read as .csv")),
    "empty parquet": Bad({"x.parquet": b""}, "x.parquet", ("cannot be read as .parquet", "0 bytes")),
    "empty npz": Bad({"x.npz": b""}, "x.npz", ("cannot be read as .npz", "empty")),
    "empty npy": Bad({"x.npy": b""}, "x.npy", ("cannot be read as .npy",)),
    "empty h5": Bad({"x.h5": b""}, "x.h5", ("cannot be read as .h5",)),
    "truncated npz": Bad({"x.npz": {"x": X}}, "x.npz", ("cannot be read as .npz",), cut=True),
    "truncated npy": Bad({"x.npy": X}, "x.npy", ("cannot be read as .npy",), cut=True),
    "truncated h5": Bad({"x.h5": {"x": X}}, "x.h5", ("cannot be read as .h5", "truncated"), cut=True),
    "truncated parquet": Bad({"x.parquet": table()}, "x.parquet", ("cannot be read as .parquet",), cut=True),
    "damaged npz": Bad({"x.npz": b"PK\3\4" + bytes(40)}, "x.npz", ("cannot be read as .npz",)),
    "text as npy": Bad({"x.npy": "speed,height\n1,2\n"}, "x.npy", ("cannot be read as .npy",)),
    "bytes as csv": Bad({"x.csv": b"\xff\xfe\x00\x01\n\x9c"}, "x.csv", ("cannot be read as .csv",)),
    "uneven csv": Bad({"x.csv": "a,b\n1,2\n1,2,3\n"}, "x.csv", ("cannot be read as .csv", "line 3")),
    "long lines": Bad({"x.csv": "a,b\n1,2,3\n4,5,6\n"}, "x.csv", ("x.csv", "header", "longer")),
    "unreadable png": Bad(TWO | {"c.png": b"no image"}, ".", ("c.png", "cannot be read as .png")),
    "truncated png": Bad({"b.png": Image.fromarray(IMAGES[0, 0])}, ".", ("b.png", "cannot be read as .png"), cut=True),
    # tables
    "no header": Bad({"x.csv": "1,2.5\n3,4\n"}, "x.csv", ("x.csv", "add a header line")),
    "header alone": Bad({"x.csv": "a,b\n"}, "x.csv", ("x.csv", "rows", "2 columns")),
    "same name twice": Bad({"x.csv": "a,b,a\n1,2,3\n"}, "x.csv", ("'a' twice",)),
    "column without name": Bad({"x.csv": ",a\n0,1\n1,2\n"}, "x.csv", ("column 0", "no name", "--columns")),
    "text": Bad({"x.csv": table(who="anna")}, "x.csv", ("'who'", "'anna' in row 0", "--exclude", "--trial")),
    "text among numbers": Bad({"x.csv": "a,b\n1,2\n3,?\n"}, "x.csv", ("column 'b'", "'?' in row 1")),
    "times": Bad({"x.parquet": table(at=pd.Timestamp(0))}, "x.parquet", ("column 'at'", "datetime", "--trial")),
    "lists": Bad({"x.parquet": table(at=[[1.0, 2.0]] * 12)}, "x.parquet", ("column 'at'", "numbers", "--exclude")),
    "categories": Bad({"x.parquet": table(at=pd.Categorical(TRIALS))}, "x.parquet", ("column 'at'", "'a' in row 0")),
    "unknown column": Bad({"x.csv": table()}, "x.csv", ("'sped'", "did you mean 'speed'"), {"columns": ["sped"]}),
    "column twice": Bad({"x.csv": table()}, "x.csv", ("columns", "'speed' twice"), {"columns": ["speed", "speed"]}),
    "no columns": Bad({"x.csv": table()}, "x.csv", ("columns", "at least one"), {"columns": []}),
    "columns as one word": Bad({"x.csv": table()}, "x.csv", ("columns", "a list"), {"columns": "speed"}),
    "unknown trial": Bad({"x.csv": table()}, "x.csv", ("no column 'day'", "'height'"), {"trial": "day"}),
    "trial alone": Bad({"x.csv": "day\n1\n2\n"}, "x.csv", ("besides the trial",), {"trial": "day"}),
    "trial among columns": Bad(
        {"x.csv": table()}, "x.csv", ("'speed'", "trial"), {"trial": "speed", "columns": ["speed"]}
    ),
    "missing label": Bad({"x.csv": "day,a\nmo,1\n,2\n"}, "x.csv", ("column 'day'", "row 1"), {"trial": "day"}),
    "no base": Bad({"x.csv": "a,b_pos\n1,2\n3,4\n"}, "x.csv", ("'b_pos'", "feature 'b'", "--columns")),
    "no partner": Bad({"x.csv": "a,a_pos,b\n1,2,5\n3,4,6\n"}, "x.csv", ("'b'", "partner 'b_pos'")),
    "partner alone": Bad({"x.csv": table(True)}, "x.csv", ("'speed'", "comes along"), {"columns": ["speed_pos"]}),
    "missing number": Bad(
        {"x.csv": "a,b\n1,2\n3,\n,6\n"},
        "x.csv",
        ("2 missing or infinite", "row 1 (counted from 0) of column 'b'"),
    ),
    "constant column": Bad({"x.csv": table(fixed=4)}, "x.csv", ("'fixed' is always 4", "--exclude")),
    "one row": Bad({"x.csv": "a,b\n1,2\n"}, "x.csv", ("at least 2 samples, got 1",)),
    # arrays
    "no x": Bad({"x.npz": {"X": X, "y": X}}, "x.npz", ("no array 'x'", "'X', 'y'")),
    "another name": Bad({"x.npz": {"data": X}}, "x.npz", ("no array 'x'", "'data'")),
    "no x in h5": Bad({"x.h5": {"deep/x": X}}, "x.h5", ("no array 'x'", "'deep/x'")),
    "no arrays": Bad({"x.npz": {}}, "x.npz", ("no array 'x'", "none")),
    "pickle": Bad({"x.npz": {"x": np.array([{}, 1])}}, "x.npz", ("x in", "Python objects", "never loaded")),
    "pickled npy": Bad({"x.npy": np.array([{}, 1])}, "x.npy", ("x in", "Python objects", "never loaded")),
    "complex": Bad({"x.npy": X + 1j}, "x.npy", ("x in", "real numbers", "complex128")),
    "text array": Bad({"x.npy": TRIALS}, "x.npy", ("x in", "real numbers", "<U1")),
    "records": Bad({"x.h5": {"x": np.zeros(3, "f4,i4")}}, "x.h5", ("x in", "real numbers")),
    "empty array": Bad({"x.npy": X[:0]}, "x.npy", ("x in", "[0, 3]")),
    "no number of axes": Bad({"x.npy": np.float64(1)}, "x.npy", ("x in", "[]")),
    "five axes": Bad({"x.npy": IMAGES[None]}, "x.npy", ("x in", "[1, 5, 3, 4, 6]")),
    "two channels": Bad({"x.npy": IMAGES[:, :2]}, "x.npy", ("x in", "1 or 3 channels", "[5, 2, 4, 6]")),
    "images of int64": Bad({"x.npy": IMAGES.astype(int)}, "x.npy", ("x in", "uint8 or float32", "int64")),
    "NaN in images": Bad({"x.npy": IMAGES + np.float32("nan")}, "x.npy", ("360 missing or infinite", "image 0")),
    "equal images": Bad({"x.npy": IMAGES[[0, 0, 0]]}, "x.npy", ("must vary", "all 3 images")),
    "columns of images": Bad({"x.npy": IMAGES}, "x.npy", ("columns", "images"), {"columns": ["x0"]}),
    "unknown column of an array": Bad({"x.npy": X}, "x.npy", ("no column 'x3'", "'x2'"), {"columns": ["x3"]}),
    "shapes": Bad({"x.npz": {"x": X, "x_pos": X[1:]}}, "x.npz", ("x and x_pos", "[12, 3] and [11, 3]")),
    "dtypes": Bad({"x.npz": {"x": IMAGES, "x_pos": IMAGES / 255}}, "x.npz", ("x and x_pos", "uint8 and float64")),
    "infinite": Bad({"x.npy": with_value(np.inf)}, "x.npy", ("1 missing", "row 7 (counted from 0) of column 'x1'")),
    "NaN in partners": Bad({"x.npz": {"x": X, "x_pos": with_value(np.nan)}}, "x.npz", ("x_pos in", "row 7")),
    "constant feature": Bad({"x.npy": X * [1, 1, 0]}, "x.npy", ("'x2' is always 0", "--exclude")),
    "unknown labels": Bad({"x.npz": {"x": X}}, "x.npz", ("no array 'day'", "'x'"), {"trial": "day"}),
    "too few labels": Bad({"x.npz": {"x": X, "trials": TRIALS[:5]}}, "x.npz", ("trials in", "12 samples", "[5]")),
    "NaN labels": Bad({"x.npz": {"x": X, "trials": with_value(np.nan)[:, 1]}}, "x.npz", ("trials in", "row 7")),
    "complex labels": Bad({"x.npz": {"x": X, "trials": X[:, 0] * 1j}}, "x.npz", ("trials in", "complex128")),
    "pairs of three": Bad({"x.npz": {"x": X, "pairs": X}}, "x.npz", ("pairs in", "[pairs, 2]", "[12, 3]")),
    "pairs of text": Bad({"x.npz": {"x": X, "pairs": TRIALS}}, "x.npz", ("pairs in", "row numbers", "<U1")),
    "pairs out of range": Bad({"x.npz": {"x": X, "pairs": PAIRS + 1}}, "x.npz", ("0 to 11", "got 12 in pair 2")),
    "pairs not whole": Bad({"x.npz": {"x": X, "pairs": PAIRS + 0.5}}, "x.npz", ("whole", "got 0.5 in pair 0")),
    "two ways to pair": Bad({"x.npz": {"x": X, "x_pos": X_POS, "pairs": PAIRS}}, "x.npz", ("one way", "_pos", "pairs")),
    # folders and lists of pairs
    "no images": Bad({"sub/a.png": grey()}, ".", ("images", ".png", "none")),
    "one image": Bad({"a.png": grey()}, ".", ("at least 2 samples, got 1",)),
    "sizes": Bad(TWO | {"c.png": grey(3, (5, 4))}, ".", ("'a.png' is 6 × 4", "'c.png' is 5 × 4")),
    "deep image": Bad(TWO | {"c.png": Image.new("I;16", (6, 4))}, ".", ("c.png", "8 bits", "I;16")),
    "transparent image": Bad(TWO | {"c.png": Image.new("RGBA", (6, 4))}, ".", ("c.png", "opaque", "background")),
    "labels of images": Bad(TWO, ".", ("trial", "'day'", "images"), {"trial": "day"}),
    "columns of a folder": Bad(TWO, ".", ("columns", "'x0'", "images"), {"columns": ["x0"]}),
    "unknown image": Bad(
        TWO | {"p.csv": "a.png,b.png\nb.png,z.png\n"}, ".", ("line 2", "p.csv", "'z.png'"), {"pairs": "p.csv"}
    ),
    "misspelt image first": Bad(TWO | {"p.csv": "x.png,y.png\n"}, ".", ("line 1", "'x.png'"), {"pairs": "p.csv"}),
    "three images a line": Bad(TWO | {"p.csv": "a.png,b.png,a.png"}, ".", ("line 1", "got 3"), {"pairs": "p.csv"}),
    "empty list": Bad(TWO | {"p.csv": ""}, ".", ("at least one pair", "p.csv"), {"pairs": "p.csv"}),
    "header of a list alone": Bad(TWO | {"p.csv": "one,two\n"}, ".", ("at least one pair",), {"pairs": "p.csv"}),
    "row out of range": Bad({"x.npy": X, "p.csv": "a,b\n0,12\n"}, "x.npy", ("line 2", "'12'"), {"pairs": "p.csv"}),
    "row not whole": Bad({"x.npy": X, "p.csv": "0,1\n\n1,1.5"}, "x.npy", ("line 3", "'1.5'"), {"pairs": "p.csv"}),
    "row below 0": Bad({"x.npy": X, "p.csv": "0,-1"}, "x.npy", ("line 1", "'-1'"), {"pairs": "p.csv"}),
    "row as a word": Bad({"x.npy": X, "p.csv": "0,one"}, "x.npy", ("line 1", "'one'"), {"pairs": "p.csv"}),
    "list of bytes": Bad({"x.npy": X, "p.csv": b"0,\xff"}, "x.npy", ("p.csv", "cannot be read"), {"pairs": "p.csv"}),
    "list beside partners": Bad(
        {"x.csv": table(True), "p.csv": "0,1"}, "x.csv", ("one way", "_pos", "p.csv"), {"pairs": "p.csv"}
    ),
}


@pytest.mark.parametrize("bad", [pytest.param(bad, id=name) for name, bad in BAD.items()])
def test_bad_data_gives_one_clear_line(tmp_path: Path, bad: Bad) -> None:
    write(tmp_path, bad.files)
    if bad.cut:
        cut(tmp_path, next(iter(bad.files)))
    options = bad.options | ({"pairs": tmp_path / bad.options["pairs"]} if "pairs" in bad.options else {})
    with pytest.raises(InputError) as caught:
        read_dataset(tmp_path / bad.path, **options)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert [word for word in bad.words if word not in message] == [], message


@pytest.mark.parametrize(
    ("module", "name", "message"),
    [
        ("pyarrow", "x.parquet", "reading .parquet needs pyarrow"),
        ("h5py", "x.h5", "reading .h5 needs h5py"),
        ("pandas", "x.csv", "reading .csv needs pandas"),
        ("PIL.Image", ".", "reading images needs pillow"),
    ],
)
def test_a_missing_library_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, name: str, message: str
) -> None:
    write(tmp_path, {"x.csv": table(), "x.parquet": table(), "x.h5": {"x": X}})
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError) as caught:
        read_dataset(tmp_path / name)
    assert str(caught.value) == (
        f"{message}: pip install '.[files]' in a clone of identica, or pip install 'FILE.whl[files]' with its wheel"
    )


@pytest.mark.filterwarnings("ignore")  # what numpy and pillow have to say about strange headers
@pytest.mark.parametrize("name", ["x.npz", "x.npy", "x.h5", "x.parquet", "x.csv", "x.tif", "x.png", "x.webp"])
def test_damage_anywhere_in_a_file_is_a_clear_error_or_harmless(tmp_path: Path, name: str) -> None:
    picture = Path(name).suffix in {".tif", ".png", ".webp"}
    content: dict[str, Any] = {"csv": table(), "parquet": table(), "npy": X}
    whole = Image.fromarray(IMAGES[0, 0]) if picture else content.get(name[2:], {"x": X})
    write(tmp_path, {f"sound/{name}": whole})
    sound = (tmp_path / "sound" / name).read_bytes()
    folder, generator = tmp_path / "damaged", np.random.default_rng(2)
    for _ in range(40):
        damaged = bytearray(sound)
        for place in generator.integers(0, len(sound), size=3):
            damaged[place] = generator.integers(0, 256)
        write(folder, {name: bytes(damaged)})
        with suppress(InputError):
            read_dataset(folder if picture else folder / name)


# --- single arrays and codes


@pytest.mark.parametrize("name", ["codes.npz", "codes.npy", "codes.csv", "codes.parquet"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_codes_come_back_as_they_were_written(tmp_path: Path, name: str, dtype: type) -> None:
    codes = X.astype(dtype)
    write_codes(tmp_path / name, codes, NAMES)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    again = read_array("codes", tmp_path / name)
    assert again.shape == codes.shape
    np.testing.assert_array_equal(again.astype(dtype), codes)


def test_codes_replace_what_was_there(tmp_path: Path) -> None:
    for shift in (0.0, 1.0):
        write_codes(tmp_path / "codes.csv", X + shift, NAMES)
    same(read_array("codes", tmp_path / "codes.csv"), X + 1.0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda folder: write_codes(folder / "codes.txt", X, NAMES), ("codes", ".npz", "'.txt'")),
        (lambda folder: write_codes(folder / "codes.npy", X, NAMES[:2]), ("[samples, 2]", "[12, 3]")),
        (lambda folder: write_codes(folder / "codes.csv", X, ["a", "b", "a"]), ("different", "a, b, a")),
        (lambda _: write_codes(Path("/proc/none/codes.npz"), X, NAMES), ("cannot be written", "codes.npz")),
    ],
)
def test_codes_that_cannot_be_written(tmp_path: Path, call: Callable[[Path], None], words: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        call(tmp_path)
    assert [word for word in words if word not in str(caught.value)] == []
    assert list(tmp_path.iterdir()) == []


def test_an_array_is_found_by_key_by_name_or_because_it_is_alone(tmp_path: Path) -> None:
    write(tmp_path, {"two.npz": {"latents": X, "codes": X_POS}, "one.h5": {"deep/z": X}, "x.csv": table(fixed=1.0)})
    same(read_array("latents", tmp_path / "two.npz"), X)
    same(read_array("latents", tmp_path / "two.npz", key="codes"), X_POS)
    same(read_array("latents", tmp_path / "one.h5"), X)
    same(read_array("latents", tmp_path / "one.h5", key="/deep/z"), X)
    assert read_array("codes", tmp_path / "x.csv").shape == (12, 4)  # constant codes are worth a score too


@pytest.mark.parametrize(
    ("content", "key", "words"),
    [
        ({"x.npz": {"a": X, "b": X}}, None, ("latents", "'a', 'b'")),
        ({"x.npz": {"a": X, "b": X}}, "c", ("no array 'c'", "'a', 'b'")),
        ({"x.npy": X}, "c", ("key 'c'", ".npz")),
        ({"x.npy": IMAGES}, None, ("latents in", "[samples, columns]", "[5, 3, 4, 6]")),
        ({"x.npy": with_value(np.nan)}, None, ("latents in", "1 missing", "row 7 (counted from 0) of column '1'")),
        ({"x.csv": table(who="anna")}, None, ("column 'who'", "numbers")),
        ({"x.sav": b"?"}, None, ("latents", ".npy", "'.sav'")),
    ],
)
def test_arrays_that_cannot_be_scored(tmp_path: Path, content: Files, key: str | None, words: tuple[str, ...]) -> None:
    write(tmp_path, content)
    with pytest.raises(InputError) as caught:
        read_array("latents", tmp_path / next(iter(content)), key=key)
    assert [word for word in words if word not in str(caught.value)] == []


def test_the_folder_of_data_sets_is_the_one_that_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("IDENTICA_DATA", str(tmp_path / "sets"))
    assert data_folder() == tmp_path / "sets"


@pytest.mark.parametrize("named", [None, ""])
def test_without_a_name_data_sets_lie_in_the_users_cache(named: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if named is None:
        monkeypatch.delenv("IDENTICA_DATA", raising=False)
    else:
        monkeypatch.setenv("IDENTICA_DATA", named)
    assert data_folder() == Path(platformdirs.user_cache_dir("identica"))
    assert data_folder().is_absolute()
