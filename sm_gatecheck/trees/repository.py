"""Git's object store, read through GitPython by commands that run nothing a repository could configure.

A repository that someone else made may name programs in its configuration (hooks, filters, text conversions, a file
system monitor, a transport for objects that are missing). So objects are listed and read raw, missing ones are not
fetched, and whether sources differ from a commit is decided here, by hashing them, not by ``git status``.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote, urlsplit, urlunsplit

from sm_gatecheck.model.report import GitFacts
from sm_gatecheck.trees.limits import Budget
from sm_gatecheck.trees.names import SUFFIX
from sm_gatecheck.trees.shape import PackageShape
from sm_gatecheck.trees.version import from_describe

_SAFE = ("--no-pager", "--no-replace-objects", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
_LINK = "120000"


class NoRepository(Exception):
    """There is no git repository, or no git to read it with; the message says which."""


class NoRevision(Exception):
    """The repository has no such commit."""


@dataclass(frozen=True)
class Blob:
    """One file of a revision: ``size`` in bytes, ``link`` where its content is the target of a symbolic link."""

    identity: str
    size: int
    link: bool


class Repository:
    """The repository that a directory is, or lies in. NoRepository where there is none."""

    def __init__(self, path: Path) -> None:
        os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
        try:
            import git
        except ImportError as error:
            raise NoRepository("git is not installed") from error
        self._errors: tuple[type[Exception], ...] = (git.exc.GitError, OSError, ValueError)
        self._missing = git.exc.GitCommandNotFound
        try:
            repository = git.Repo(path, search_parent_directories=True, expand_vars=False)
        except self._errors as error:
            raise NoRepository("it lies in no git repository") from error
        with repository:
            self.directory = Path(os.path.abspath(repository.git_dir))
            self.work_tree = None if repository.bare else Path(os.path.abspath(repository.working_tree_dir or path))
            common = Path(os.path.abspath(repository.common_dir))
        self._git = git.cmd.Git(str(self.work_tree or self.directory))
        # Said outright, because a hook that runs gatecheck has set them to its own repository.
        self._environment = {
            "GIT_DIR": str(self.directory),
            "GIT_COMMON_DIR": str(common),
            "GIT_OBJECT_DIRECTORY": str(common / "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": "",
            "GIT_WORK_TREE": str(self.work_tree or self.directory),
            "GIT_INDEX_FILE": str(self.directory / "index"),
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
        }

    def commit(self, revision: str) -> str:
        """The commit that a revision names. NoRevision where it names none."""
        if not revision or revision.startswith("-") or any(character < " " for character in revision):
            raise NoRevision(revision)
        return self._line("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")

    def branch(self) -> str | None:
        """The branch that is checked out, None where the head is detached."""
        try:
            return self._line("symbolic-ref", "--quiet", "--short", "HEAD")
        except NoRevision:
            return None

    def origin(self) -> str | None:
        """The address that this was cloned from as a URL without user or password; None where others cannot reach it."""
        try:
            return public_url(self._line("config", "--get", "remote.origin.url"))
        except NoRevision:
            return None

    def leads_to(self, ancestor: str, commit: str) -> bool:
        """Whether a commit is in the history of another, or is that commit."""
        try:
            self._output("merge-base", "--is-ancestor", ancestor, commit)
        except NoRevision:
            return False
        return True

    def changing(self, ancestor: str, commit: str, directories: Iterable[str]) -> list[str]:
        """The commits after ``ancestor`` up to ``commit`` that change something below a directory, oldest first, by first parents."""
        paths = [f":(top,literal){directory}" for directory in directories]
        listing = self._output("rev-list", "--first-parent", "--reverse", f"{ancestor}..{commit}", "--", *paths)
        return os.fsdecode(listing).split()

    def heading(self, commit: str) -> tuple[str, str]:
        """The day of a commit (UTC) and the first line of its message, from the object itself."""
        head, _, message = self._output("cat-file", "commit", commit).partition(b"\n\n")
        stamp = next((line.rsplit(b" ", 2)[1] for line in head.split(b"\n") if line.startswith(b"committer ")), b"0")
        day = datetime.fromtimestamp(int(stamp), tz=timezone.utc).date().isoformat()
        return day, message.split(b"\n")[0].decode("utf-8", "replace").strip()

    def describe(self, commit: str, tags: str) -> str | None:
        """The version of a commit by the nearest release tag before it."""
        try:
            return from_describe(self._line("describe", "--tags", f"--match={tags}", "--abbrev=9", commit))
        except NoRevision:
            return None

    def holds(self, commit: str, path: str) -> bool:
        """Whether a commit has a file of this path."""
        try:
            self._line("rev-parse", "--verify", "--quiet", f"{commit}:{path}")
        except NoRevision:
            return False
        return True

    def small_file(self, commit: str, path: str, limit: int) -> bytes | None:
        """The content of one file of a commit, None where there is none or it has more bytes than ``limit``."""
        try:
            record = self._output("ls-tree", "-l", "-z", "--full-tree", commit, path).split(b"\0")[0]
        except NoRevision:
            return None
        blob = _blob(record.partition(b"\t")[0])
        return self.contents([blob.identity])[0] if blob is not None and not blob.link and blob.size <= limit else None

    def revisions(self) -> list[str]:
        """The short names of the branches and tags, for suggestions."""
        try:
            listing = self._output("for-each-ref", "--count=5000", "--format=%(refname:short)", "refs/heads", "refs/tags", "refs/remotes")
        except NoRevision:
            return []
        return listing.decode("utf-8", "replace").split("\n")

    def blobs(self, commit: str, directory: str, budget: Budget) -> dict[str, Blob]:
        """The files below a directory of a commit, by name relative to it. TreeError where they pass the budget's members."""
        found: dict[str, Blob] = {}
        with self._stream("ls-tree", "-r", "-l", "-z", "--full-tree", f"{commit}:{directory.rstrip('/')}") as output:
            for record in _records(output):
                budget.count_member()
                head, _, name = record.partition(b"\t")
                blob = _blob(head)
                if blob is not None:
                    found[os.fsdecode(name)] = blob
        return found

    def contents(self, identities: Iterable[str]) -> list[bytes]:
        """The raw bytes of blobs, in the order asked. NoRevision where one is missing."""
        wanted = list(identities)
        found: list[bytes] = []
        if not wanted:
            return found
        with tempfile.TemporaryFile() as request:
            request.write("".join(f"{identity}\n" for identity in wanted).encode("ascii"))
            request.seek(0)
            with self._stream("cat-file", "--batch", istream=request) as output:
                for identity in wanted:
                    header = output.readline().split()
                    if len(header) != 3 or header[1] != b"blob":
                        raise NoRevision(f"object {identity} is missing")
                    content = output.read(int(header[2]))
                    if len(content) != int(header[2]):
                        raise NoRevision(f"object {identity} is damaged")
                    output.read(1)
                    found.append(content)
        return found

    def ignored(self, names: Iterable[str]) -> set[str]:
        """Those of some paths, relative to the work tree, that git is told to leave alone."""
        with tempfile.TemporaryFile() as request:
            request.write(b"".join(b"./" + os.fsencode(name) + b"\0" for name in names))  # so that none is read as a pattern
            request.seek(0)
            try:
                listing = self._output("check-ignore", "-z", "--stdin", istream=request)
            except NoRevision:
                return set()
        return {os.fsdecode(name).removeprefix("./") for name in listing.split(b"\0") if name}

    def _line(self, *arguments: str) -> str:
        return os.fsdecode(self._output(*arguments)).strip()

    def _output(self, *arguments: str, istream: BinaryIO | None = None) -> bytes:
        command = [self._git.GIT_PYTHON_GIT_EXECUTABLE, *_SAFE, *arguments]
        try:
            output: Any = self._git.execute(command, istream=istream, stdout_as_string=False, env=self._environment)
        except self._missing as error:
            raise NoRepository("git is not installed") from error
        except self._errors as error:
            raise NoRevision(" ".join(str(error).split())) from error
        return bytes(output)

    def _stream(self, *arguments: str, istream: BinaryIO | None = None) -> _Output:
        command = [self._git.GIT_PYTHON_GIT_EXECUTABLE, *_SAFE, *arguments]
        try:
            process: Any = self._git.execute(command, istream=istream, as_process=True, stdout_as_string=False, env=self._environment)
        except self._missing as error:
            raise NoRepository("git is not installed") from error
        except self._errors as error:
            raise NoRevision(" ".join(str(error).split())) from error
        return _Output(process)


class _Output:
    """The output of a running command; leaving the block ends the command.

    NoRevision where the command failed, so that half an answer is not taken for a whole one.
    """

    def __init__(self, process: Any) -> None:
        self._process = process
        self._said = b""
        # Read beside the output: a command that complains about each of many objects would wait for its reader, and we for it.
        self._listener = threading.Thread(target=self._listen, daemon=True)

    def _listen(self) -> None:
        while chunk := self._process.stderr.read(1 << 16):
            self._said = chunk if not self._said else self._said

    def __enter__(self) -> BinaryIO:
        self._listener.start()
        stdout: BinaryIO = self._process.stdout
        return stdout

    def __exit__(self, kind: object, *_: object) -> None:
        process = self._process.proc
        if kind is not None:
            process.terminate()
        process.stdout.close()
        returned = process.wait()
        self._listener.join()
        process.stderr.close()
        if returned != 0 and kind is None:
            raise NoRevision(" ".join(self._said.decode("utf-8", "replace").split()) or "git failed")


def _blob(head: bytes) -> Blob | None:
    """``mode kind identity size`` of a listing; None for what is no file. What is missing has no size, and none is made up."""
    fields = os.fsdecode(head).split()
    if len(fields) != 4 or fields[1] != "blob":
        return None
    return Blob(fields[2], int(fields[3]) if fields[3].isdigit() else 0, fields[0] == _LINK)


def _records(output: BinaryIO) -> Iterator[bytes]:
    rest = b""
    while chunk := output.read(1 << 16):
        *records, rest = (rest + chunk).split(b"\0")
        yield from records
    if rest:
        yield rest


def public_url(address: str) -> str | None:
    """A remote's address as a URL: ``https://host/path``, ``ssh://host/path`` for ``user@host:path``; None for a local path.

    Users and passwords are left out: a report goes where they must not.
    """
    brief = re.fullmatch(r"(?:[^@/:\s]{1,100}@)?([A-Za-z0-9.-]{2,250}):(?!/)([^\s:]{1,1000})", address)
    if brief is not None and "://" not in address:
        return f"ssh://{brief[1]}/{quote(brief[2])}"
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in ("https", "http", "ssh", "git") or not host or not re.fullmatch(r"[A-Za-z0-9.:-]+", host):
        return None
    name = f"[{host}]" if ":" in host else host
    return urlunsplit((parts.scheme, name if port is None else f"{name}:{port}", quote(parts.path, safe="/%"), "", ""))


def git_facts(project: Path, package: Path, files: Mapping[str, bytes], shape: PackageShape) -> tuple[GitFacts | None, str | None]:
    """The revision of a checkout and its version by tags; nothing where the project is no work tree of its own.

    A project vendored into another repository, or a fixture, has that repository's commits, which say nothing about it.
    ``dirty`` speaks of what was read: whether ``files`` are the commit's own sources.
    """
    root = _work_tree(project, shape)
    if root is None:
        return None, None
    try:
        repository = Repository(root)
        commit = repository.commit("HEAD")
        prefix = os.path.relpath(os.path.realpath(package), os.path.realpath(root)).replace(os.sep, "/")
        dirty = _differs(repository, commit, prefix, files)
        return GitFacts(commit, dirty, repository.branch(), repository.origin()), repository.describe(commit, shape.tags)
    except (NoRepository, NoRevision):
        return None, None


def _work_tree(project: Path, shape: PackageShape) -> Path | None:
    for directory in shape.source_dirs:
        root = project.absolute()
        if directory:
            if root.name != directory:
                continue
            root = root.parent
        if os.path.lexists(root / ".git"):
            return root
    return None


def _differs(repository: Repository, commit: str, prefix: str, files: Mapping[str, bytes]) -> bool:
    committed = {
        name: blob for name, blob in repository.blobs(commit, prefix, Budget(prefix)).items() if name.endswith(SUFFIX) and not blob.link
    }
    for name, blob in committed.items():
        content = files.get(name)
        if content is None or not _is_blob(content, blob.identity):
            return True
    added = {f"{prefix}/{name}" for name in files if name not in committed}
    return bool(added) and bool(added - repository.ignored(sorted(added)))


def _is_blob(content: bytes, identity: str) -> bool:
    algorithm = hashlib.sha256 if len(identity) == 64 else hashlib.sha1
    # A checkout on Windows may have turned the line ends; that is not a change.
    variants = (content, content.replace(b"\r\n", b"\n")) if b"\r\n" in content else (content,)
    return any(algorithm(b"blob %d\0" % len(variant) + variant).hexdigest() == identity for variant in variants)
