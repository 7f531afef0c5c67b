"""The files of the model: a directory of which only the configuration is known to be there.

What is asked of paths elsewhere stays unknown.
"""

from __future__ import annotations

import posixpath
from fnmatch import fnmatchcase

from sm_gatecheck.evaluate.calls import IDENTITY
from sm_gatecheck.evaluate.values import Instance, Known, Partial, Sequence, Value

PATH = "path"
"""The name of the object that stands for a ``pathlib.Path``; its text is the attribute ``TEXT``."""
TEXT = "gatecheck.text"
_EXISTS = {"os.path.exists": (True, True), "os.path.isdir": (True, False), "os.path.isfile": (False, True)}
_METHODS = {"exists": "os.path.exists", "is_dir": "os.path.isdir", "is_file": "os.path.isfile"}


class ModelFiles:
    """Answers the questions that code asks of the file system about the directory ``root``."""

    def __init__(self, root: str, names: tuple[str, ...] = ("config.json",)) -> None:
        self._root = root
        self._files = tuple(f"{root}/{name}" for name in names)

    def call(self, dotted: str, args: tuple[Value, ...]) -> Value | None:
        """The result of a function of the standard library; None where it is not about the model's files."""
        texts = [path_text(arg) for arg in args]
        if dotted == "pathlib.Path" and texts and all(text is not None for text in texts):
            return path_object(posixpath.join(*(text for text in texts if text is not None)))
        if not texts or texts[0] is None or not self._owns(texts[0]):
            return None
        if dotted in _EXISTS:
            return Known(self._exists(texts[0], *_EXISTS[dotted]))
        if dotted == "os.listdir" and texts[0] == self._root:
            return Sequence("list", tuple(Known(posixpath.basename(file)) for file in self._files))
        if dotted == "glob.glob":
            return Sequence("list", tuple(Known(file) for file in self._files if fnmatchcase(file, texts[0])))
        return None

    def attribute(self, path: Instance, name: str) -> Value | None:
        """An attribute of a path object."""
        text = path_text(path)
        if text is None:
            return None
        if name in _METHODS and self._owns(text):
            return Partial(IDENTITY, (Known(self._exists(text, *_EXISTS[_METHODS[name]])),), ())
        if name == "suffix":
            return Known(posixpath.splitext(text)[1])
        if name in ("name", "parent"):
            return Known(posixpath.basename(text)) if name == "name" else path_object(posixpath.dirname(text))
        return None

    def _owns(self, path: str) -> bool:
        return path == self._root or path.startswith(f"{self._root}/")

    def _exists(self, path: str, as_directory: bool, as_file: bool) -> bool:
        return (as_directory and path == self._root) or (as_file and path in self._files)


def path_object(text: str) -> Instance:
    return Instance(None, PATH, {TEXT: Known(text)})


def path_text(value: Value) -> str | None:
    """The text of a path given as text or as an object."""
    if isinstance(value, Instance) and value.name == PATH:
        value = value.attributes[TEXT]
    return value.value if isinstance(value, Known) and isinstance(value.value, str) else None
