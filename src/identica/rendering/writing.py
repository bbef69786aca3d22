"""Sets of pictures on disk, rendered by several processes, each chunk of pictures by one of them."""

from __future__ import annotations

import functools
import json
import multiprocessing
import os
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from identica import _checks
from identica._checks import InputError
from identica._files import replacing
from identica._side_by_side import current_workers
from identica.rendering._stores import ArrayStore, FileStore, PictureStore
from identica.rendering.latents import to_scene
from identica.rendering.renderer import TeapotRenderer, check_installed
from identica.rendering.sets import RenderedSet

__all__ = ["write_set"]

Report = Callable[[int, int], None]
_SETTINGS = "set.json"
_Task = tuple[PictureStore, int, NDArray[np.float64]]


def write_set(
    settings: RenderedSet, folder: Path, *, workers: int = 1, report: Report = lambda done, count: None
) -> int:
    """Render what a folder lacks of a set. The files are the same however often it was stopped, and by whom.

    Args:
        settings: Of the set; those of a folder that is there already must be the same.
        folder: Where the pictures and their latents go.
        workers: Processes that render, unless an engine is serving.
        report: Called with how many pictures are there, and how many there will be.

    Returns:
        How many pictures were rendered now.
    """
    _checks.at_least_one("workers", workers)
    check_installed()
    stores = _stores(settings, folder.absolute())
    _claim(settings, folder)
    for name, array in settings.arrays().items():
        with replacing(folder / f"{name}.npy") as unfinished, unfinished.open("wb") as file:
            np.save(file, array)
    tasks = list(_tasks(settings, stores))
    total, rendered = settings.count * len(stores), 0
    there = total - sum(len(latents) for _, _, latents in tasks)
    report(there, total)
    for count in _rendered(settings, tasks, workers):
        rendered += count
        report(there + rendered, total)
    for store in stores.values():
        store.finish()
    return rendered


def _stores(settings: RenderedSet, folder: Path) -> dict[str, PictureStore]:
    kind = FileStore if settings.layout == "files" else ArrayStore
    return {name: kind(folder, f"{name}images", settings.count, settings.size) for name in settings.names}


def _claim(settings: RenderedSet, folder: Path) -> None:
    """Put the settings into a new folder, or see that those of an old one are the same."""
    path, wanted = folder / _SETTINGS, settings.to_dict()
    if path.exists():
        found = json.loads(path.read_text(encoding="utf-8"))
        other = [name for name in wanted if found.get(name) != json.loads(json.dumps(wanted[name]))]
        if other:
            told = ", ".join(f"{name} {found.get(name)!r}, not {wanted[name]!r}" for name in other)
            raise InputError(f"out must be a new folder or one of the same set, but {str(folder)!r} has {told}")
        return
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"out must be a new or an empty folder, or one of the same set, got {str(folder)!r}")
    _check_space(settings, folder)
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(path) as unfinished:
        unfinished.write_text(json.dumps(wanted, indent=1) + "\n", encoding="utf-8")


def _check_space(settings: RenderedSet, folder: Path) -> None:
    """Pictures in an array take three bytes a pixel; as files they take less, but seldom less than a fourth."""
    pixels = settings.count * len(settings.names) * settings.size**2
    needed = pixels * 3 if settings.layout == "array" else pixels * 3 // 4
    there = next(parent for parent in folder.absolute().parents if parent.exists())
    free = shutil.disk_usage(there).free
    if needed > free:
        raise InputError(f"out needs {needed / 1e9:.1f} GB, but {str(there)!r} has {free / 1e9:.1f} GB left")


def _tasks(settings: RenderedSet, stores: dict[str, PictureStore]) -> Iterator[_Task]:
    """What is still to be rendered: a store, one of its chunks, and the latents of that."""
    for name, unit in settings.parts().items():
        store, latents = stores[name], to_scene(unit)
        store.prepare()
        for chunk in store.missing():
            rows = store.rows(chunk)
            yield store, chunk, latents[rows.start : rows.stop]


def _rendered(settings: RenderedSet, tasks: Sequence[_Task], workers: int) -> Iterator[int]:
    """Render all chunks, here or where an engine takes them; yield how many pictures each has."""
    elsewhere = current_workers()
    if elsewhere is not None:
        return (count for _, count in elsewhere.each(render_chunk, [(settings, *task) for task in tasks]))
    workers = min(workers, len(tasks))
    return _side_by_side(settings, tasks, workers) if workers > 1 else _render(settings, tasks)


def render_chunk(settings: RenderedSet, store: PictureStore, chunk: int, latents: NDArray[np.float64]) -> int:
    """What a worker of an engine does; its renderer stays for the next chunk."""
    store.write(chunk, _renderer(settings.size, settings.samples, settings.scene).render(latents))
    return len(latents)


_renderer = functools.lru_cache(maxsize=1)(TeapotRenderer)


def _render(settings: RenderedSet, tasks: Sequence[_Task]) -> Iterator[int]:
    """Render one chunk after another; yield how many pictures each has."""
    if not tasks:
        return
    renderer = TeapotRenderer(settings.size, settings.samples, settings.scene)
    for store, chunk, latents in tasks:
        store.write(chunk, renderer.render(latents))
        yield len(latents)


def _side_by_side(settings: RenderedSet, tasks: Sequence[_Task], workers: int) -> Iterator[int]:
    """The same in processes, each of which takes every so-manieth chunk."""
    context = multiprocessing.get_context("spawn")
    active = dict[Connection, SpawnProcess]()
    try:
        for first in range(workers):
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=_work, args=(settings, tasks[first::workers], sender), daemon=True)
            process.start()
            sender.close()
            active[receiver] = process
        while active:
            ready = wait(list(active))
            for receiver in [connection for connection in active if connection in ready]:
                try:
                    yield receiver.recv()
                except EOFError:
                    process = active.pop(receiver)
                    process.join()
                    if process.exitcode:
                        raise RuntimeError(f"a process that rendered ended with code {process.exitcode}") from None
    finally:
        for process in active.values():
            process.terminate()


def _work(settings: RenderedSet, tasks: Sequence[_Task], sender: Connection) -> None:
    """What a process does."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # end at once and silently: what is stored is whole
    try:
        for count in _render(settings, tasks):
            sender.send(count)
    except BrokenPipeError:  # whoever asked for pictures is gone
        os._exit(1)
