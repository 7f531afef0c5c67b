"""Sites seen by one option while others have known values: their conditions with those values filled in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from sm_gatecheck.evaluate.values import Choice, Payload, Truth, Value, choice, fields_of
from sm_gatecheck.model.condition import Condition
from sm_gatecheck.target.session import Session
from sm_gatecheck.verdicts.sites import Site, SiteIndex


class GivenSites:
    """The sites of an index that can be reached under given values of other options than the one that is asked about."""

    def __init__(self, index: SiteIndex, given: Mapping[str, Any]) -> None:
        self._index = index
        self._given = given
        self.gated_in_resolution = index.gated_in_resolution
        self.rewrites = index.rewrites

    def decided(self, field: str) -> Iterator[Site]:
        return self._filled_in(self._index.decided(field), field)

    def further(self, field: str) -> Iterator[Site]:
        return self._filled_in(self._index.further(field), field)

    def conditions(self, field: str) -> Iterator[Condition]:
        """As the index has them: which values an option is compared with does not hang on the others."""
        return self._index.conditions(field)

    def leads_to_target(self, field: str, value: Any, default: Any) -> bool:
        return self._index.leads_to_target(field, value, default)

    def _filled_in(self, sites: Iterable[Site], field: str) -> Iterator[Site]:
        given = {name: value for name, value in self._given.items() if name != field}
        return (site for site in (_site(site, given) for site in sites) if not site.condition.is_false)


def _site(site: Site, given: Mapping[str, Any]) -> Site:
    known = {name: given[name] for name in site.fields if name in given}
    if not known:
        return site
    within = None if site.wherever_called is None else _condition(site.wherever_called, known)
    values = tuple(_value(value, known) for value in site.values)
    return replace(site, condition=_condition(site.condition, known), wherever_called=within, values=values)


def _condition(condition: Condition, known: Mapping[str, Any]) -> Condition:
    for name, value in known.items():
        condition = condition.restrict(name, value)
    return condition


def _value(value: Value, known: Mapping[str, Any]) -> Value:
    if not fields_of(value) & known.keys():
        return value
    if isinstance(value, Choice):
        left = [(_condition(condition, known), _payload(payload, known)) for condition, payload in value.alternatives]
        return choice(left, _payload(value.alternatives[-1][1], known))
    return _payload(value, known)


def _payload(payload: Payload, known: Mapping[str, Any]) -> Payload:
    return Truth(_condition(payload.condition, known)) if isinstance(payload, Truth) else payload


def rewritten_at_runtime(session: Session, fields: Iterable[str]) -> frozenset[str]:
    """Options that code outside resolution stores anew: what was given does not tell what their readers see."""
    names = sorted(name for name in fields if name.isidentifier())
    if not names:
        return frozenset()
    store = re.compile(rb"\w\.(" + "|".join(names).encode() + rb")[ \t]*=(?!=)")
    resolution = session.resolution_rules.files
    roots = tuple(root.encode() for root in session.reading.option_roots)
    found: set[str] = set()
    for module in session.program.modules():
        if module.path.startswith(resolution):
            continue
        for match in store.finditer(module.source):
            start = module.source.rfind(b"\n", 0, match.start()) + 1
            if any(root in module.source[start : match.end()] for root in roots):
                found.add(match.group(1).decode())
    return frozenset(found)
