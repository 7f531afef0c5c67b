"""The checks that no verdict stands behind, and which verdict each weighs as much as."""

from __future__ import annotations

from sm_gatecheck.model.verdict import Verdict

NOT_TAKEN = "GC201"
NOT_READ = "GC202"
OTHER_RELEASE = "GC203"
REFUSED_ANYWHERE = "GC204"
DROPPED = "GC205"
DISAGREEING = "GC303"
REFUSED_DEFAULT = "GC304"
UNREAD = "GC306"

LIKE: dict[str, Verdict] = {
    NOT_TAKEN: Verdict.REJECTED,
    REFUSED_ANYWHERE: Verdict.REJECTED,
    NOT_READ: Verdict.NOOP,
    DROPPED: Verdict.NOOP,
    REFUSED_DEFAULT: Verdict.REJECTED,
    DISAGREEING: Verdict.NOOP_WITH_SIDE_EFFECTS,
    UNREAD: Verdict.NOOP,
}
"""A server that does not start is as bad as an option refused, what is set for nothing is a no-op; another release is neither.

Of the checks of the code, those that are left out here count for ``any`` alone.
"""
