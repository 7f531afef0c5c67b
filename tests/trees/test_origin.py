"""The address a repository was cloned from, fit to be printed."""

from __future__ import annotations

from pathlib import Path

import git
import pytest

from sm_gatecheck.trees.repository import Repository, public_url


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("https://host.example/a/b.git", "https://host.example/a/b.git"),
        ("https://user:secret@host.example:8443/a?token=secret#secret", "https://host.example:8443/a"),
        ("git@host.example:a/b.git", "ssh://host.example/a/b.git"),
        ("ssh://git@host.example/a b", "ssh://host.example/a%20b"),
        ("https://[2001:db8::1]/a", "https://[2001:db8::1]/a"),
        ("/srv/git/a.git", None),
        ("../a", None),
        ("C:/a", None),
        ("file:///srv/a", None),
        ("ext::sh -c whatever", None),
        ("https://ho\x1bst/a", None),
        ("https://host:port/a", None),
        ("", None),
    ],
)
def test_public_url(address: str, url: str | None) -> None:
    assert public_url(address) == url


def test_it_is_read_from_the_repository(tmp_path: Path) -> None:
    with git.Repo.init(tmp_path) as repository:
        assert Repository(tmp_path).origin() is None
        repository.create_remote("origin", "https://me:secret@host.example/a.git")
    assert Repository(tmp_path).origin() == "https://host.example/a.git"
