from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from identica._checks import InputError
from identica.datafiles import DOWNLOADS, download, fetch

CONTENT = bytes(range(256)) * 10_000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
MD5 = hashlib.md5(CONTENT, usedforsecurity=False).hexdigest()
Call = Callable[..., tuple[int, str, str]]


class Answers(BaseHTTPRequestHandler):
    """/whole has the content, /cut ends early, /moved leads to /whole."""

    def do_GET(self) -> None:
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/whole")
            self.end_headers()
        elif self.path in {"/whole", "/cut"}:
            self.send_response(200)
            self.send_header("Content-Length", str(len(CONTENT)))
            self.end_headers()
            self.wfile.write(CONTENT if self.path == "/whole" else CONTENT[:100_000])
        else:
            self.send_error(404)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Answers) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()
        thread.join()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sets" / "file.bin"


@pytest.mark.parametrize("page", ["/whole", "/moved"])
def test_a_file_comes_whole(server: str, path: Path, page: str) -> None:
    news: list[tuple[int, int | None]] = []
    found = fetch(server + page, path, md5=MD5, sha256=SHA256.upper(), report=lambda *one: news.append(one))
    assert found == SHA256
    assert path.read_bytes() == CONTENT
    assert news[-1] == (len(CONTENT), len(CONTENT))
    assert len(news) > 1
    assert [one.name for one in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("/cut", "the connection ended after 100000 of 2560000 bytes"),
        ("/none", "cannot be fetched: Not Found"),
        ("/whole", f"has another sha256: expected {'0' * 64}, got {SHA256}; it is not used"),
    ],
)
def test_nothing_is_left_of_what_went_wrong(server: str, path: Path, page: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        fetch(server + page, path, sha256="0" * 64 if page == "/whole" else SHA256)
    assert [*path.parent.iterdir()] == []


def test_no_server_and_no_address(path: Path) -> None:
    for url in ("http://127.0.0.1:9/file", "no address"):
        with pytest.raises(InputError, match=f"{url} cannot be fetched: "):
            fetch(url, path)


def test_a_file_that_is_there_is_compared_and_never_replaced(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(CONTENT)
    assert fetch("http://127.0.0.1:9/file", path, md5=MD5) == SHA256
    path.write_bytes(b"mine")
    with pytest.raises(InputError, match="is there already, but it has another md5"):
        fetch("http://127.0.0.1:9/file", path, md5=MD5)
    assert path.read_bytes() == b"mine"


@pytest.mark.parametrize("checksum", ["", "abc", "g" * 64, "0" * 63])
def test_what_is_no_checksum(path: Path, checksum: str) -> None:
    with pytest.raises(InputError, match="sha256 must be 64 hexadecimal digits, got"):
        fetch("http://127.0.0.1:9/file", path, sha256=checksum)


@pytest.fixture
def local(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IDENTICA_DATA", str(tmp_path))
    for name, one in DOWNLOADS.items():
        changed = replace(one, url=f"{server}/whole", md5=None if one.md5 is None else MD5)
        monkeypatch.setitem(DOWNLOADS, name, changed)
    return tmp_path


def test_the_command_fetches_into_the_folder_of_data_sets(local: Path, command_line: Call) -> None:
    code, said, _ = command_line("download", "dsprites", "--json")
    path = local / "dsprites" / "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"
    assert (code, json.loads(said)) == (0, {"path": str(path), "sha256": SHA256})
    assert path.read_bytes() == CONTENT
    code, said, _ = command_line("download", "dsprites")
    assert (code, said) == (0, f"dsprites is in {path}\nsha256 {SHA256}\n")


def test_without_a_pinned_checksum_one_must_be_given(local: Path, command_line: Call) -> None:
    code, _, said = command_line("download", "natural-sprites")
    assert code == 2
    assert "no checksum of 'natural-sprites' is pinned here" in said
    assert said.strip().count("\n") == 0
    assert not (local / "natural_sprites").exists()
    code, _, _ = command_line("download", "natural-sprites", "--sha256", SHA256)
    assert code == 0
    assert (local / "natural_sprites" / "downscale_keepaspect.csv").read_bytes() == CONTENT


def test_other_names_are_refused() -> None:
    with pytest.raises(InputError, match="unknown data set 'dsprite': did you mean 'dsprites'"):
        download("dsprite")
