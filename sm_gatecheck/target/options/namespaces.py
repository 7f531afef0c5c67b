"""Options spread over classes that one module constant lists, each class a namespace under which its fields are read."""

from __future__ import annotations

from collections.abc import Iterator

from sm_gatecheck.evaluate.literals import ClassValue, Evaluator, NotLiteral
from sm_gatecheck.program.modules import Module
from sm_gatecheck.target.options.fields import Field, class_fields
from sm_gatecheck.target.options.rules import OptionRules


def namespace_classes(module: Module, evaluator: Evaluator, rules: OptionRules) -> list[ClassValue]:
    """The listed classes; empty where the module has no such list."""
    for name in rules.namespaces:
        if name not in module.bindings:
            continue
        try:
            listed = evaluator.module_attribute(module, name)
        except NotLiteral as error:
            evaluator.notes.append(error.unresolved)
            continue
        if isinstance(listed, dict):
            listed = list(listed.values())
        if isinstance(listed, (list, tuple)):
            return [cls for cls in listed if isinstance(cls, ClassValue)]
    return []


def namespace_fields(classes: list[ClassValue], evaluator: Evaluator, rules: OptionRules) -> Iterator[Field]:
    """The fields of all namespaces, each with the path of its own."""
    for cls in classes:
        found = evaluator.find_attribute(cls, rules.namespace_attribute, None, evaluator.lineage(cls))
        path = found[0] if found is not None and isinstance(found[0], str) else None
        yield from class_fields(cls, evaluator, path)
