"""Which top-level statements of a module change a global in place, without binding it."""

from __future__ import annotations

import ast

from sm_gatecheck.program.modules import Module

_COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.Try)


def changes_by_name(module: Module) -> dict[str, list[ast.stmt]]:
    """Per global, the statements that change it: ``X.append(…)``, ``X["k"] = …``, ``register(…)`` where that changes X."""
    found: dict[str, list[ast.stmt]] = {}
    for statement in module.syntax.body:
        for name in _changed_names(statement, module):
            if statement not in module.bindings.get(name, []):
                found.setdefault(name, []).append(statement)
    return found


def _changed_names(statement: ast.stmt, module: Module) -> set[str]:
    names: set[str] = set()
    stack: list[ast.stmt] = [statement]
    while stack:
        current = stack.pop()
        if isinstance(current, ast.Assign):
            names.update(filter(None, (_root(target) for target in current.targets if not isinstance(target, ast.Name))))
        elif isinstance(current, ast.Expr) and isinstance(current.value, ast.Call):
            names.update(_changed_by_call(current.value, module))
        elif isinstance(current, _COMPOUND):
            stack.extend(child for child in ast.iter_child_nodes(current) if isinstance(child, ast.stmt))
            if isinstance(current, ast.Try):
                for handler in current.handlers:
                    stack.extend(handler.body)
    return names


def _changed_by_call(call: ast.Call, module: Module) -> set[str]:
    if isinstance(call.func, ast.Attribute):
        root = _root(call.func.value)
        return {root} if root else set()
    if not isinstance(call.func, ast.Name):
        return set()
    names: set[str] = set()
    for definition in module.bindings.get(call.func.id, []):
        if isinstance(definition, ast.FunctionDef):
            for inner in ast.walk(definition):
                if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
                    root = _root(inner.func.value)
                    if root:
                        names.add(root)
        elif isinstance(definition, ast.Assign) and isinstance(definition.value, ast.Attribute):
            root = _root(definition.value)
            if root:
                names.add(root)
    return names


def _root(expression: ast.expr) -> str | None:
    while isinstance(expression, (ast.Attribute, ast.Subscript)):
        expression = expression.value
    return expression.id if isinstance(expression, ast.Name) else None
