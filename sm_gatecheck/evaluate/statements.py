"""Statements: one function a kind, run under the frame's path condition."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sm_gatecheck.evaluate import calls, classes
from sm_gatecheck.evaluate.failing import may_fail
from sm_gatecheck.evaluate.frames import Catch, Frame, Guard, Loop, guarded_write, is_caught
from sm_gatecheck.evaluate.operations import arithmetic, compare, lift2
from sm_gatecheck.evaluate.registration import collect_item, registered
from sm_gatecheck.evaluate.values import (
    Choice,
    ClassValue,
    External,
    FunctionValue,
    Instance,
    Known,
    Mapping,
    ModuleValue,
    Opaque,
    Payload,
    Sequence,
    Value,
    alternatives,
    choice,
)
from sm_gatecheck.model.condition import Condition
from sm_gatecheck.program.modules import Module, bound_names
from sm_gatecheck.syntax.skeleton import LazyAsyncFunction, LazyFunction

if TYPE_CHECKING:
    from sm_gatecheck.evaluate.interpreter import Interpreter

UNROLL_LIMIT = 40


def run(interp: Interpreter, body: list[ast.stmt], frame: Frame) -> None:
    """Execute statements in order until no path is left."""
    for statement in body:
        if frame.pc.is_false:
            return
        handler = HANDLERS.get(type(statement))
        if handler is not None:
            handler(interp, statement, frame)


def _expression(interp: Interpreter, node: ast.Expr, frame: Frame) -> None:
    if isinstance(node.value, ast.Constant):
        return
    if frame.recorder is None:
        frame.discarded = node.value.value if isinstance(node.value, ast.Await) else node.value
    interp.evaluate(node.value, frame)


def _if(interp: Interpreter, node: ast.If, frame: Frame) -> None:
    held = interp.test(node.test, frame)
    entry, guards, refused = frame.pc, len(frame.guards), frame.refused
    frame.refused = interp.space.false
    fell_through = interp.space.false
    for body, condition in ((node.body, held), (node.orelse, ~held)):
        frame.pc = entry & condition
        if frame.pc.is_false:
            continue
        frame.guards.append(Guard(frame.module, node.test, condition))
        run(interp, body, frame)
        del frame.guards[guards:]
        fell_through = fell_through | frame.pc
    frame.pc = interp.space.widen(_past_checks(interp, fell_through, frame.refused))
    frame.refused = refused | _passable(interp, frame.refused, fell_through)
    if frame.pc is not entry:
        # One branch left: what follows is guarded by the other.
        frame.guards.append(Guard(frame.module, node.test, held if _leaves(node.orelse) else ~held))


def _past_checks(interp: Interpreter, passed: Condition, refused: Condition | None) -> Condition:
    """What follows a check, on the SMs where it can be passed at all, is judged as if it had been passed.

    Carrying "and no earlier check refused" along would bury every later condition under the model's details.
    """
    if refused is None or refused.is_false:
        return passed
    return passed | (refused & interp.space.targets(passed.exists))


def _passable(interp: Interpreter, refused: Condition, passed: Condition) -> Condition:
    """The refusals of a check on the SMs where it can be passed: where it cannot, nothing that follows is reached past it."""
    return refused if refused.is_false else refused & interp.space.targets(passed.exists)


def _leaves(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))


def _while(interp: Interpreter, node: ast.While, frame: Frame) -> None:
    _forget_assigned(interp, [node], frame)
    held = interp.test(node.test, frame)
    _loop_body(interp, node.body, frame, held, node.test)
    run(interp, node.orelse, frame)


def _for(interp: Interpreter, node: ast.For | ast.AsyncFor, frame: Frame) -> None:
    source = interp.evaluate(node.iter, frame)
    items = calls.iterate(interp, source)
    if items is not None and len(items) <= UNROLL_LIMIT:
        _unrolled(interp, node, items, frame)
    elif isinstance(source, Choice) and _unroll_each(interp, node, source, frame):
        pass
    else:
        _forget_assigned(interp, node.body, frame)
        assign(interp, node.target, interp.unknown(node.iter, frame, source), frame, node)
        free = interp.space.free(f"7:{frame.module.path}:{node.lineno}", f"the loop over {interp.text(node.iter, frame.module)} runs")
        _loop_body(interp, node.body, frame, free, node.iter)
    run(interp, node.orelse, frame)


def _unroll_each(interp: Interpreter, node: ast.For | ast.AsyncFor, source: Choice, frame: Frame) -> bool:
    """A loop over one of several sequences: each is unrolled under its own condition. False where one is not known; one that is
    empty is most likely filled out of sight.
    """
    rows = [(condition, calls.iterate(interp, payload)) for condition, payload in source.alternatives]
    if not all(items for _, items in rows) or sum(len(items or ()) for _, items in rows) > UNROLL_LIMIT:
        return False
    entry, after = frame.pc, interp.space.false
    for condition, items in rows:
        frame.pc = entry & condition
        if not frame.pc.is_false:
            _unrolled(interp, node, items or [], frame)
            after = after | frame.pc
    frame.pc = after
    return True


def _unrolled(interp: Interpreter, node: ast.For | ast.AsyncFor, items: list[Value], frame: Frame) -> None:
    loop = Loop(interp.space.false, interp.space.false)
    frame.loops.append(loop)
    for item in items:
        if frame.pc.is_false:
            break
        assign(interp, node.target, item, frame, node)
        loop.continued = interp.space.false
        run(interp, node.body, frame)
        frame.pc = frame.pc | loop.continued
    frame.loops.pop()
    frame.pc = frame.pc | loop.broken


def _loop_body(interp: Interpreter, body: list[ast.stmt], frame: Frame, entered: Condition, test: ast.expr) -> None:
    """Run a body once, as any of its iterations; afterwards the loop may have run or not."""
    entry, guards = frame.pc, len(frame.guards)
    loop = Loop(interp.space.false, interp.space.false)
    frame.loops.append(loop)
    frame.pc = entry & entered
    frame.guards.append(Guard(frame.module, test, entered))
    run(interp, body, frame)
    del frame.guards[guards:]
    frame.loops.pop()
    frame.pc = (entry & ~entered) | frame.pc | loop.broken | loop.continued


def _forget_assigned(interp: Interpreter, body: list[ast.stmt], frame: Frame) -> None:
    """A variable that the loop assigns may hold what an earlier iteration left."""
    for statement in body:
        for name in bound_names(statement):
            if name in frame.variables:
                frame.write(name, Opaque(f"9:{frame.module.path}:{frame.qualname}:{name}@{statement.lineno}", name), Known(None))


def _return(interp: Interpreter, node: ast.Return, frame: Frame) -> None:
    value: Value = Known(None) if node.value is None else interp.evaluate(node.value, frame)
    interp.record("return", node, "return", frame, (value,))
    frame.returns.append((frame.pc, value))
    frame.pc = interp.space.false


def _raise(interp: Interpreter, node: ast.Raise, frame: Frame) -> None:
    name = "" if node.exc is None else interp.text(node.exc, frame.module)
    _leave_by_exception(interp, node, name, frame, "raise")
    frame.pc = interp.space.false


def _leave_by_exception(interp: Interpreter, node: ast.AST, name: str, frame: Frame, kind: Any) -> None:
    exception = "AssertionError" if kind == "assert" else name.split("(")[0].split(".")[-1]
    if is_caught(frame, exception, frame.pc):
        return
    interp.record(kind, node, name, frame)
    if frame.recorder is None:
        frame.escapes.append((frame.pc, exception))
    else:
        frame.refused = frame.refused | frame.pc


def _assert(interp: Interpreter, node: ast.Assert, frame: Frame) -> None:
    outer, frame.absent = frame.absent, interp.space.false
    held = interp.test(node.test, frame)
    # No path leads past a check that asks something of None.
    possible = interp.space.targets((frame.pc & held & ~frame.absent).exists) if held.depends_on_target() else interp.space.true
    frame.absent = outer
    entry, refused = frame.pc, frame.refused
    passed = entry & held & possible
    frame.pc = entry & ~held
    if not frame.pc.is_false:
        frame.guards.append(Guard(frame.module, node.test, ~held))
        _leave_by_exception(interp, node, interp.text(node, frame.module), frame, "assert")
        frame.guards.pop()
    if frame.recorder is not None:
        frame.refused = refused | _passable(interp, frame.refused, passed)
    frame.pc = _past_checks(interp, passed, entry & ~held if frame.recorder is not None and not frame.catches else None)
    if frame.pc is not entry:
        frame.guards.append(Guard(frame.module, node.test, held))


def _assign(interp: Interpreter, node: ast.Assign, frame: Frame) -> None:
    value = interp.evaluate(node.value, frame)
    for target in node.targets:
        assign(interp, target, value, frame, node)


def _annotated(interp: Interpreter, node: ast.AnnAssign, frame: Frame) -> None:
    if node.value is not None:
        assign(interp, node.target, interp.evaluate(node.value, frame), frame, node)


def _augmented(interp: Interpreter, node: ast.AugAssign, frame: Frame) -> None:
    current = interp.evaluate(_as_load(node.target), frame)
    operand = interp.evaluate(node.value, frame)
    value = lift2(
        interp.space,
        lambda a, b: arithmetic(interp.space, node.op, a, b),
        current,
        operand,
        lambda: interp.unknown(node, frame, current, operand),
    )
    assign(interp, node.target, value, frame, node)


def _as_load(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    if isinstance(target, ast.Attribute):
        return ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
    if isinstance(target, ast.Subscript):
        return ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
    return target


def assign(interp: Interpreter, target: ast.expr, value: Value, frame: Frame, node: ast.AST) -> None:
    """Store a value: to a variable, an attribute, an item, or by unpacking."""
    if isinstance(target, ast.Name):
        if target.id in frame.global_names:
            interp.record("store", node, target.id, frame, (value,), target=ModuleValue(frame.module.name))
            unknown = interp.unknown(target, frame, value)
            frame.global_writes[target.id] = guarded_write(frame.pc, value, frame.global_writes.get(target.id), unknown)
        else:
            if frame.pc.is_true or target.id not in frame.variables:
                frame.variables[target.id] = value
            else:
                frame.write(target.id, value, interp.unknown(target, frame, value))
            if frame.recorder is not None and _computed(node):
                interp.record("local", node, target.id, frame)
    elif isinstance(target, ast.Attribute):
        _store_attribute(interp, target, value, frame, node)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(interp, target, value, frame, node)
    elif isinstance(target, ast.Subscript):
        _store_item(interp, target, value, frame, node)


def _computed(node: ast.AST) -> bool:
    """Whether an assignment changes what a later statement works on, without a call that would be recorded itself."""
    value = getattr(node, "value", None)
    return isinstance(node, ast.AugAssign) or isinstance(value, (ast.BinOp, ast.Subscript, ast.Attribute))


def _unpack(interp: Interpreter, target: ast.Tuple | ast.List, value: Value, frame: Frame, node: ast.AST) -> None:
    starred = next((index for index, element in enumerate(target.elts) if isinstance(element, ast.Starred)), len(target.elts))
    for index, element in enumerate(target.elts):
        inner = element.value if isinstance(element, ast.Starred) else element
        results = []
        for condition, payload in alternatives(classes.as_sequence(interp, value), interp.space.true):
            found = _unpacked(payload, index, starred, len(target.elts))
            item = interp.unknown(inner, frame, payload) if found is None else found
            results += [(condition & c, p) for c, p in alternatives(item, interp.space.true)]
        assign(interp, inner, choice(results, interp.unknown(inner, frame)), frame, node)


def _unpacked(payload: Payload, index: int, starred: int, count: int) -> Value | None:
    """What the target at ``index`` of ``count`` gets; the one at ``starred`` takes what the others leave."""
    from sm_gatecheck.evaluate.expressions import sequence_items

    items = sequence_items(payload)
    if items is None or (index >= len(items) if starred == count else len(items) < count - 1):
        return None
    if index < starred:
        return items[index]
    behind = count - 1 - index
    return Sequence("list", items[starred : len(items) - behind]) if index == starred else items[len(items) - 1 - behind]


def _store_attribute(interp: Interpreter, target: ast.Attribute, value: Value, frame: Frame, node: ast.AST) -> None:
    receiver = interp.evaluate(target.value, frame)
    interp.record("store", node, interp.text(target, frame.module), frame, (value,), receiver=receiver)
    store_attribute(interp, receiver, target.attr, value, frame, node)


def store_attribute(interp: Interpreter, receiver: Value, name: str, value: Value, frame: Frame, node: ast.AST) -> None:
    """``receiver.name = value`` under the frame's path condition."""
    before = frame.pc
    for condition, payload in alternatives(receiver, interp.space.true):
        frame.pc = before & condition
        if frame.pc.is_false or not isinstance(payload, Instance):
            continue
        if not interp.world.stored(interp, frame, payload, name, value, node):
            old = payload.attributes.get(name)
            if old is None or frame.pc.is_true:
                payload.attributes[name] = value
            else:
                payload.attributes[name] = guarded_write(frame.pc, value, old, interp.unknown(node, frame, value))
    frame.pc = before


def _store_item(interp: Interpreter, target: ast.Subscript, value: Value, frame: Frame, node: ast.AST) -> None:
    if interp.collecting is not None and collect_item(interp, target, value, frame):
        return
    container = interp.evaluate(target.value, frame)
    key: Value = Known(None) if isinstance(target.slice, ast.Slice) else interp.evaluate(target.slice, frame)
    if container == External("os.environ"):
        interp.record("environment", node, interp.text(target, frame.module), frame, (key, value))
        return
    interp.record("store", node, interp.text(target, frame.module), frame, (value,), receiver=container)
    changed = None if isinstance(target.slice, ast.Slice) else _with_item(interp, container, key, value)
    if changed is None:
        return
    if isinstance(target.value, ast.Name):
        frame.write(target.value.id, changed, interp.unknown(target, frame, value))
    elif isinstance(target.value, ast.Attribute):
        store_attribute(interp, interp.evaluate(target.value.value, frame), target.value.attr, changed, frame, node)


def _with_item(interp: Interpreter, container: Value, key: Value, value: Value) -> Value | None:
    """The same for each alternative of the container."""
    rows: list[tuple[Condition, Payload]] = []
    for condition, payload in alternatives(container, interp.space.true):
        changed = with_item(payload, key, value)
        if changed is None or isinstance(changed, Choice):
            return None
        rows.append((condition, changed))
    return choice(rows, Known(None))


def with_item(container: Value, key: Value, value: Value) -> Value | None:
    """The container after ``container[key] = value``; None where it cannot be told."""
    if not isinstance(key, Known):
        return None
    if isinstance(container, Mapping):
        entries = tuple((k, v) for k, v in container.entries if k != key)
        return Mapping((*entries, (key, value)))
    if isinstance(container, Sequence) and isinstance(key.value, int) and -len(container.items) <= key.value < len(container.items):
        items = list(container.items)
        items[key.value] = value
        return Sequence(container.kind, tuple(items))
    return None


def _with(interp: Interpreter, node: ast.With | ast.AsyncWith, frame: Frame) -> None:
    for item in node.items:
        value = interp.evaluate(item.context_expr, frame)
        if item.optional_vars is not None:
            assign(interp, item.optional_vars, interp.unknown(item.context_expr, frame, value), frame, node)
    run(interp, node.body, frame)


def _try(interp: Interpreter, node: ast.Try, frame: Frame) -> None:
    entry, guards = frame.pc, len(frame.guards)
    # A handler that only passes the exception on catches nothing: what is raised inside is seen outside as it was raised.
    handlers = [handler for handler in node.handlers if not _passes_on(handler)]
    catch = Catch(_caught_names(interp, handlers, frame), interp.space.false)
    if handlers:
        frame.catches.append(catch)
    run(interp, node.body, frame)
    if handlers:
        frame.catches.pop()
    run(interp, node.orelse, frame)
    after = frame.pc
    for handler in handlers:
        caught = _may_raise(interp, node, handler, frame) | catch.raised
        frame.pc = entry & caught
        if frame.pc.is_false:
            continue
        if handler.type is not None and not caught.is_true and not caught.depends_on_target() and not caught.fields_and_taints():
            frame.guards.append(Guard(frame.module, handler.type, caught))  # by something that nobody knows: the last test passed
        if handler.name:
            frame.variables[handler.name] = Opaque(f"9:{frame.module.path}:{handler.lineno}:exception", handler.name)
        run(interp, handler.body, frame)
        del frame.guards[guards:]
        after = after | frame.pc
    frame.pc = after
    run(interp, node.finalbody, frame)


def _passes_on(handler: ast.ExceptHandler) -> bool:
    """Whether a handler ends by raising what it caught."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None and not any(isinstance(node, (ast.Return, ast.If)) for node in handler.body)


def _caught_names(interp: Interpreter, handlers: list[ast.ExceptHandler], frame: Frame) -> tuple[str, ...] | None:
    names: list[str] = []
    for handler in handlers:
        if handler.type is None:
            return None
        text = interp.text(handler.type, frame.module).strip("()")
        names += [part.strip().split(".")[-1] for part in text.split(",")]
    return tuple(names)


def _may_raise(interp: Interpreter, node: ast.Try, handler: ast.ExceptHandler, frame: Frame) -> Condition:
    """Whether an exception may reach a handler of its own accord: an import that the world knows to succeed cannot."""
    names = "" if handler.type is None else interp.text(handler.type, frame.module)
    only_imports = all(isinstance(statement, (ast.Import, ast.ImportFrom, ast.Pass, ast.Assign)) for statement in node.body)
    imported = [statement for statement in node.body if isinstance(statement, (ast.Import, ast.ImportFrom))]
    if imported and ("Import" in names or "ModuleNotFound" in names or only_imports):
        return _import_fails(interp, imported, frame)
    if not may_fail(interp, node.body, frame):
        return interp.space.false
    exception = names or "an exception"
    return interp.space.free(f"7:{frame.module.path}:{handler.lineno}", f"{exception} at line {node.lineno}")


def _import_fails(interp: Interpreter, imported: list[ast.Import | ast.ImportFrom], frame: Frame) -> Condition:
    for statement in imported:
        modules = [statement.module or ""] if isinstance(statement, ast.ImportFrom) else [alias.name for alias in statement.names]
        for name in modules:
            level = statement.level if isinstance(statement, ast.ImportFrom) else 0
            absolute = frame.module.absolute(name, level) if level else name
            if not interp.program.owns(absolute) and interp.world.importable(absolute) is False:
                return interp.space.true
    return interp.space.false


def _import(interp: Interpreter, node: ast.Import | ast.ImportFrom, frame: Frame) -> None:
    for alias in node.names:
        if alias.name == "*":
            continue
        name = alias.asname or (alias.name.split(".")[0] if isinstance(node, ast.Import) else alias.name)
        frame.write(name, interp.imported(frame.module, node, name), interp.unknown(node, frame))


def _function(interp: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> None:
    closure = {**(frame.closure or {}), **frame.variables} if frame.qualname else None
    function = FunctionValue(frame.module, node, frame.owner, closure, f"{frame.qualname}.{node.name}".lstrip("."))
    frame.write(node.name, decorated(interp, node, function, frame), interp.unknown(node, frame))


def decorated(interp: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef, function: FunctionValue, frame: Frame) -> Value:
    """The function as its decorators leave it; those that are not understood are taken to keep what it does."""
    return function


def _class(interp: Interpreter, node: ast.ClassDef, frame: Frame) -> None:
    qualname = f"{frame.qualname}.{node.name}".lstrip(".")
    frame.write(node.name, interp.class_value(frame.module, node, qualname), interp.unknown(node, frame))


def _delete(interp: Interpreter, node: ast.Delete, frame: Frame) -> None:
    return


def _global(interp: Interpreter, node: ast.Global, frame: Frame) -> None:
    frame.global_names.update(node.names)


def _break(interp: Interpreter, node: ast.Break, frame: Frame) -> None:
    if frame.loops:
        frame.loops[-1].broken = frame.loops[-1].broken | frame.pc
    frame.pc = interp.space.false


def _continue(interp: Interpreter, node: ast.Continue, frame: Frame) -> None:
    if frame.loops:
        frame.loops[-1].continued = frame.loops[-1].continued | frame.pc
    frame.pc = interp.space.false


def _match(interp: Interpreter, node: ast.Match, frame: Frame) -> None:
    subject = interp.evaluate(node.subject, frame)
    entry, guards = frame.pc, len(frame.guards)
    remaining, fell_through = interp.space.true, interp.space.false
    for case in node.cases:
        frame.pc = entry & remaining
        held = _matches(interp, case.pattern, subject, node, frame)
        if case.guard is not None:
            frame.pc = entry & remaining & held
            held = held & interp.test(case.guard, frame)
        frame.pc = entry & remaining & held
        if not frame.pc.is_false:
            frame.guards.append(Guard(frame.module, case.pattern, held))
            run(interp, case.body, frame)
            del frame.guards[guards:]
            fell_through = fell_through | frame.pc
        remaining = remaining & ~held
    frame.pc = interp.space.widen(fell_through | (entry & remaining))


def _matches(interp: Interpreter, pattern: ast.pattern, subject: Value, node: ast.Match, frame: Frame) -> Condition:
    space = interp.space
    if isinstance(pattern, ast.MatchValue):
        value = interp.evaluate(pattern.value, frame)
        return compare(space, ast.Eq(), subject, value, lambda: interp.unknown(pattern, frame, subject))
    if isinstance(pattern, ast.MatchSingleton):
        return compare(space, ast.Is(), subject, Known(pattern.value), lambda: interp.unknown(pattern, frame, subject))
    if isinstance(pattern, ast.MatchOr):
        result = space.false
        for option in pattern.patterns:
            result = result | _matches(interp, option, subject, node, frame)
        return result
    if isinstance(pattern, ast.MatchAs):
        held = space.true if pattern.pattern is None else _matches(interp, pattern.pattern, subject, node, frame)
        if pattern.name is not None:
            frame.write(pattern.name, subject, interp.unknown(pattern, frame, subject))
        return held
    if isinstance(pattern, ast.MatchSequence):
        return _matches_sequence(interp, pattern, subject, node, frame)
    return space.free(
        f"7:{frame.module.path}:{pattern.lineno}:{pattern.col_offset}", f"the subject matches {interp.text(pattern, frame.module)}"
    )


def _matches_sequence(interp: Interpreter, pattern: ast.MatchSequence, subject: Value, node: ast.Match, frame: Frame) -> Condition:
    from sm_gatecheck.evaluate.expressions import sequence_items

    result = interp.space.false
    for condition, payload in alternatives(subject, interp.space.true):
        items = sequence_items(payload)
        if items is None or any(isinstance(part, ast.MatchStar) for part in pattern.patterns):
            held = interp.space.free(f"7:{frame.module.path}:{pattern.lineno}", f"the subject matches {interp.text(pattern, frame.module)}")
        elif len(items) != len(pattern.patterns):
            held = interp.space.false
        else:
            held = interp.space.true
            for part, item in zip(pattern.patterns, items):
                held = held & _matches(interp, part, item, node, frame)
        result = result | (condition & held)
    return result


HANDLERS: dict[type[ast.stmt], Callable[[Interpreter, Any, Frame], None]] = {
    ast.Expr: _expression,
    ast.If: _if,
    ast.While: _while,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    LazyFunction: _function,
    LazyAsyncFunction: _function,
    ast.ClassDef: _class,
    ast.Delete: _delete,
    ast.Global: _global,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.Match: _match,
}


# -- module level ---------------------------------------------------------------------------------------------------


def module_variable(interp: Interpreter, module: Module, name: str, bindings: list[ast.stmt]) -> Value:
    """What a module's top level leaves in ``name``: only the statements that bind it are run."""
    frame = Frame(module, "", interp.space.true)
    for statement in bindings:
        _see_earlier(interp, statement, name, frame)
        run_binding(interp, statement, {name}, frame)
    value = frame.variables.get(name)
    if interp.registers and interp.collecting is None and isinstance(value, (Mapping, Sequence)) and name in module.filled:
        filled = registered(interp, module, name, value)
        if filled is not None:
            return filled
    if value in (Mapping(()), Sequence("list", ())) and name in module.filled:
        # A registry: readers do not find it empty.
        return Opaque(f"9:{module.path}:{name}", name)
    written = _written_by_functions(interp, module, name, value)
    if value is None:
        return written[0] if len(written) == 1 else Opaque(f"9:{module.path}:{name}", name)
    for index, other in enumerate(written):
        if value == Known(None):
            # A placeholder until some initialiser has run: readers come after it.
            value = other
            continue
        free = interp.space.free(f"8:{module.path}:{name}:{index}", f"{name} as set elsewhere")
        joined = [(free & c, p) for c, p in alternatives(other, interp.space.true)]
        joined += [(~free & c, p) for c, p in alternatives(value, interp.space.true)]
        value = choice(joined, Opaque(f"9:{module.path}:{name}", name))
    return value


def _see_earlier(interp: Interpreter, statement: ast.stmt, name: str, frame: Frame) -> None:
    """Names that the module binds anew further down still have their earlier value where a statement uses them."""
    module = frame.module
    if not module.rebound or isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
        return
    used = {inner.id for inner in ast.walk(statement) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)}
    for other in sorted(used & module.rebound - {name}):
        earlier = [binding for binding in module.bindings[other] if binding.lineno < statement.lineno]
        key = ("earlier", module.path, other, len(earlier))
        if not earlier or len(earlier) == len(module.bindings[other]) or key in interp.running:
            continue
        interp.running.add(key)
        frame.variables[other] = module_variable(interp, module, other, earlier)
        interp.running.discard(key)


def _written_by_functions(interp: Interpreter, module: Module, name: str, initial: Value | None) -> list[Value]:
    """The values that functions leave in a module global; a context manager puts back what it changes."""
    seed = {name: Known(None)} if initial == Known(None) else {}
    values: list[Value] = []
    for node in module.global_writers.get(name, []):
        function = FunctionValue(module, node, None, None, node.name)
        if "contextmanager" in " ".join(classes.decorator_names(node)) or id(node) in interp.running:
            continue
        interp.running.add(id(node))
        # A placeholder is what the first call finds: those that come after it find what it left.
        frame = Frame(module, function.qualname, interp.space.true, depth=2, global_writes=dict(seed))
        try:
            calls.run_with_unknown_arguments(interp, function, None, frame)
        finally:
            interp.running.discard(id(node))
        left = frame.global_writes.get(name)
        if left is not None and left != seed.get(name):
            values.append(_without_placeholder(left) if seed else left)
    return values[:4]


def _without_placeholder(value: Value) -> Value:
    """What an initialiser leaves where it comes to its end: readers come after one that did."""
    if not isinstance(value, Choice):
        return value
    kept = [(condition, payload) for condition, payload in value.alternatives if payload != Known(None)]
    first = kept[0][0].space.true
    for condition, _ in kept[1:]:
        first = first & ~condition
    return choice([(first, kept[0][1]), *kept[1:]], kept[0][1])


def bound_when(interp: Interpreter, module: Module, name: str) -> Condition:
    """The condition under which a module's top level binds a name at all."""
    frame = Frame(module, "", interp.space.true)
    result = interp.space.false
    for statement in module.bindings.get(name, ()):
        result = result | _binds_when(interp, statement, name, frame)
    return result


def _binds_when(interp: Interpreter, node: ast.stmt, name: str, frame: Frame) -> Condition:
    def of(body: list[ast.stmt]) -> Condition:
        result = interp.space.false
        for statement in body:
            result = result | _binds_when(interp, statement, name, frame)
        return result

    if name not in bound_names(node):
        return interp.space.false
    if isinstance(node, ast.If):
        held = interp.test(node.test, frame)
        return (held & of(node.body)) | (~held & of(node.orelse))
    if isinstance(node, ast.Try):
        failed = interp.space.false
        handled = interp.space.false
        for handler in node.handlers:
            failed = failed | _may_raise(interp, node, handler, frame)
            handled = handled | (failed & of(handler.body))
        return (~failed & (of(node.body) | of(node.orelse))) | handled | of(node.finalbody)
    if isinstance(node, (ast.With, ast.AsyncWith)):
        inside = of(node.body)
        return interp.space.true if inside.is_false else inside
    return interp.space.true


def run_binding(interp: Interpreter, statement: ast.stmt, names: set[str], frame: Frame) -> None:
    """Run the parts of a statement that bind one of ``names``; inside compound statements, those parts only."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        if statement.name in names:
            HANDLERS[type(statement)](interp, statement, frame)
        return
    if isinstance(statement, ast.If):
        _run_binding_if(interp, statement, names, frame)
        return
    if isinstance(statement, ast.Try):
        _run_binding_try(interp, statement, names, frame)
        return
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        _import_only(interp, statement, names, frame)
        return
    HANDLERS[type(statement)](interp, statement, frame)


def _import_only(interp: Interpreter, statement: ast.Import | ast.ImportFrom, names: set[str], frame: Frame) -> None:
    for alias in statement.names:
        bound = alias.asname or (alias.name.split(".")[0] if isinstance(statement, ast.Import) else alias.name)
        if bound in names:
            frame.write(bound, interp.imported(frame.module, statement, bound), interp.unknown(statement, frame))


def _run_binding_if(interp: Interpreter, node: ast.If, names: set[str], frame: Frame) -> None:
    held = interp.test(node.test, frame)
    entry = frame.pc
    for body, condition in ((node.body, held), (node.orelse, ~held)):
        frame.pc = entry & condition
        if not frame.pc.is_false:
            _run_binding_block(interp, body, names, frame)
    frame.pc = entry


def _run_binding_try(interp: Interpreter, node: ast.Try, names: set[str], frame: Frame) -> None:
    entry = frame.pc
    _run_binding_block(interp, node.body, names, frame)
    _run_binding_block(interp, node.orelse, names, frame)
    for handler in node.handlers:
        frame.pc = entry & _may_raise(interp, node, handler, frame)
        if not frame.pc.is_false:
            _run_binding_block(interp, handler.body, names, frame)
    frame.pc = entry
    _run_binding_block(interp, node.finalbody, names, frame)


def _run_binding_block(interp: Interpreter, body: list[ast.stmt], names: set[str], frame: Frame) -> None:
    """Statements of a nested block: those that bind a wanted name, or a name that an assignment to one needs."""
    wanted = set(names)
    for statement in reversed(body):
        if wanted & set(bound_names(statement)):
            wanted |= {inner.id for inner in ast.walk(statement) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)}
    for statement in body:
        if wanted & set(bound_names(statement)):
            run_binding(interp, statement, wanted, frame)


__all__ = ["Choice", "ClassValue", "Sequence", "assign", "bound_when", "module_variable", "run", "run_binding"]
