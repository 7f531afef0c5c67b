"""``PATH@REV``: a git revision, read from the object store; no work tree is touched and no filter is run."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from pathlib import Path

from sm_gatecheck.model.report import Diagnostic, GitFacts, Source
from sm_gatecheck.trees.limits import MAX_FILE_BYTES, MAX_METADATA_BYTES, Budget
from sm_gatecheck.trees.names import SUFFIX, link_end, oddity, printable
from sm_gatecheck.trees.refusal import no_package_inside
from sm_gatecheck.trees.repository import Blob, NoRepository, NoRevision, Repository
from sm_gatecheck.trees.shape import PackageShape
from sm_gatecheck.trees.tree import Tree, TreeError, UsageError
from sm_gatecheck.trees.version import stated_version


def split_revision(target: str) -> tuple[Path, str] | None:
    """The existing path and the revision of ``PATH@REV``; None where nothing before an ``@`` exists.

    The longest path counts: both may hold an ``@`` (``HEAD@{1}``).
    """
    positions = [index for index, character in enumerate(target) if character == "@" and index]
    for index in reversed(positions):
        if os.path.exists(target[:index]):
            return Path(target[:index]), target[index + 1 :]
    return None


def open_revision(target: str, path: Path, revision: str, shape: PackageShape) -> Tree:
    """The package as a revision has it. UsageError where there is no such repository or revision, TreeError for other trees."""
    try:
        return _open(target, Repository(path), path, revision, shape)
    except NoRepository as error:
        raise UsageError(f"{target}: {path} cannot be read as a git repository ({error}); name it without @{revision}") from error


@dataclass(frozen=True)
class History:
    """The commits between two revisions that change the package, oldest first; ``path`` names the repository."""

    path: Path
    good: str
    bad: str
    commits: tuple[str, ...]
    repository: Repository

    def target(self, commit: str) -> str:
        """A commit as TREE."""
        return f"{self.path}@{commit}"


def open_history(path: Path, good: str, bad: str, shape: PackageShape) -> History:
    """What lies between two revisions of a repository. UsageError where there is none, or the one does not lead to the other."""
    try:
        repository = Repository(path)
    except NoRepository as error:
        raise UsageError(f"{path} cannot be read as a git repository ({error}): bisect needs the history of one") from error
    commits: list[str] = []
    for revision in (good, bad):
        try:
            commits.append(repository.commit(revision))
        except NoRevision:
            raise UsageError(f"{path} has no revision {revision!r}{_meant(revision, repository)}") from None
    if not repository.leads_to(*commits):
        backwards = repository.leads_to(commits[1], commits[0])
        mend = f"write {bad} {good}" if backwards else "name two revisions of which the first is in the history of the second"
        raise UsageError(f"{good} does not lead to {bad}: {mend}")
    packages = {_package(repository, commit, path, shape) for commit in commits}
    if None in packages:
        raise no_package_inside(f"{path}@{good} or {path}@{bad}", shape)
    between = repository.changing(commits[0], commits[1], sorted(package for package in packages if package))
    return History(path, commits[0], commits[1], tuple(between), repository)


def _open(target: str, repository: Repository, path: Path, revision: str, shape: PackageShape) -> Tree:
    try:
        commit = repository.commit(revision)
    except NoRevision:
        raise UsageError(f"{target}: {path} has no revision {revision!r}{_meant(revision, repository)}") from None
    package = _package(repository, commit, path, shape)
    if package is None:
        raise no_package_inside(target, shape)
    try:
        return _read(target, repository, commit, package, shape)
    except NoRevision as error:
        raise TreeError(f"{target} is not complete here ({error}): run git fetch --refetch in {path}, without a filter") from error


def _meant(revision: str, repository: Repository) -> str:
    names = repository.revisions()
    near = difflib.get_close_matches(revision, names, n=1, cutoff=0.6)
    if near:
        return f"; did you mean {near[0]}?"
    return "; name a branch, a tag or a commit (git fetch --tags brings those of its origin)"


def _package(repository: Repository, commit: str, path: Path, shape: PackageShape) -> str | None:
    """The path of the package in a commit: at or below what was named, else at the usual places from the root."""
    bases = [""]
    if repository.work_tree is not None:
        below = os.path.relpath(os.path.realpath(path), os.path.realpath(repository.work_tree)).replace(os.sep, "/")
        bases = [""] if below == "." else [f"{below}/", ""]
    for base in bases:
        for place in ([base] if base else []) + [f"{base}{source}{'/' if source else ''}{shape.name}/" for source in shape.source_dirs]:
            if shape.is_package(lambda marker, place=place: repository.holds(commit, place + marker)):  # type: ignore[misc]
                return place
    return None


def _read(target: str, repository: Repository, commit: str, package: str, shape: PackageShape) -> Tree:
    budget = Budget(target)
    blobs = repository.blobs(commit, package, budget)
    files, diagnostics = _sources(repository, blobs, budget)
    project = package.rstrip("/").rpartition("/")[0]
    version = stated_version(
        shape,
        lambda name: _small(repository, blobs.get(name)),
        (),
        lambda name: repository.small_file(commit, f"{project}/{name}" if project else name, MAX_METADATA_BYTES),
    )
    facts = GitFacts(commit, False, None, repository.origin())
    return Tree(Source(target, "git", version or repository.describe(commit, shape.tags), facts), files, diagnostics)


def _sources(repository: Repository, blobs: dict[str, Blob], budget: Budget) -> tuple[dict[str, bytes], tuple[Diagnostic, ...]]:
    names = sorted(name for name in blobs if name.endswith(SUFFIX))
    linking = [name for name in names if blobs[name].link and blobs[name].size <= MAX_METADATA_BYTES]
    targets = repository.contents(blobs[name].identity for name in linking)
    links = {name: text.decode("utf-8", "replace") for name, text in zip(linking, targets, strict=True)}
    wanted: dict[str, Blob] = {}
    diagnostics: list[Diagnostic] = []
    for name in names:
        end = link_end(name, links, blobs)
        problem = oddity(name)
        if problem is None and (end is None or blobs[end].link):
            problem = "a link that leads out of the package, or nowhere"
        elif problem is None and end is not None and blobs[end].size > MAX_FILE_BYTES:
            problem = f"{blobs[end].size:,} bytes is over the limit of {MAX_FILE_BYTES:,}"
        if problem is not None or end is None:
            diagnostics.append(Diagnostic(printable(name), 1, f"left out: {problem}"))
        else:
            budget.count_bytes(blobs[end].size)
            wanted[name] = blobs[end]
    contents = repository.contents(blob.identity for blob in wanted.values())
    return dict(zip(wanted, contents, strict=True)), tuple(diagnostics)


def _small(repository: Repository, blob: Blob | None) -> bytes | None:
    if blob is None or blob.link or blob.size > MAX_METADATA_BYTES:
        return None
    return repository.contents([blob.identity])[0]
