"""Calls: what a callee is, how arguments reach its parameters, and what running its body gives."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from sm_gatecheck.evaluate import attributes, classes
from sm_gatecheck.evaluate.builtin_calls import call_builtin, call_method_of_constant, is_instance
from sm_gatecheck.evaluate.frames import Frame, escape
from sm_gatecheck.evaluate.operations import truth_value
from sm_gatecheck.evaluate.registration import collect_call
from sm_gatecheck.evaluate.standard_library import call_standard
from sm_gatecheck.evaluate.values import (
    BoundMethod,
    Choice,
    ClassValue,
    EnumMember,
    External,
    FunctionValue,
    Instance,
    Known,
    Mapping,
    Opaque,
    OptionValue,
    Partial,
    Payload,
    Sequence,
    Truth,
    Value,
    alternatives,
    choice,
    payloads,
)
from sm_gatecheck.model.condition import Condition

if TYPE_CHECKING:
    from sm_gatecheck.evaluate.interpreter import Interpreter

INLINE_LINES = 110
REMEMBERED_DEPTH = 1
IDENTITY = External("gatecheck.identity")
_CACHES = frozenset(
    {"functools.lru_cache", "functools.cache", "functools.wraps", "torch.compiler.disable", "torch.no_grad", "torch.inference_mode"}
)
_NOT_CALLS = frozenset({"builtins.len", "builtins.isinstance", "builtins.getattr", "builtins.hasattr"})


def call_expression(interp: Interpreter, node: ast.Call, frame: Frame) -> Value:
    """Evaluate a call expression: callee, arguments, then the call; record it for whoever listens."""
    if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
        return _super(interp, frame, node)
    if interp.collecting is not None and collect_call(interp, node, frame):
        return Known(None)
    function, receiver = _callee(interp, node, frame)
    args: list[Value] = []
    spread = False
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            from sm_gatecheck.evaluate.expressions import sequence_items

            inner = interp.evaluate(argument.value, frame)
            items = sequence_items(inner)
            if items is None:
                spread = True
            else:
                args.extend(items)
        else:
            args.append(interp.evaluate(argument, frame))
    keywords: dict[str, Value] = {}
    several: list[tuple[Condition, dict[str, Value]]] = []
    for keyword in node.keywords:
        value = interp.evaluate(keyword.value, frame)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif isinstance(value, Mapping):
            keywords.update(_named(value))
        elif isinstance(value, Choice) and not several and all(isinstance(payload, Mapping) for payload in payloads(value)):
            several = [(condition, _named(payload)) for condition, payload in value.alternatives if isinstance(payload, Mapping)]
        else:
            spread = True
    if several and not spread:
        return _answer_each(interp, node, function, args, keywords, several, frame)
    if frame.recorder is None:
        return _answer(interp, node, function, args, keywords, spread, frame)
    reached, frame.followed = frame.pc, False
    value = _answer(interp, node, function, args, keywords, spread, frame)
    if not frame.asking:
        target = function if not isinstance(function, Choice) else None
        left, frame.pc = frame.pc, reached
        interp.record(
            "call",
            node,
            callee_name(interp, node, frame),
            frame,
            tuple(args),
            target=target,
            keywords=keywords,
            receiver=receiver,
            followed=frame.followed and not _opaque(value),
        )
        frame.pc = left
    else:
        # A call in a test is no act, but a call it is: who makes it must be known.
        frame.recorder.wants("call", callee_name(interp, node, frame), reached, (), ())
    frame.followed = False
    return value


def _named(mapping: Mapping) -> dict[str, Value]:
    """The entries of a mapping as keyword arguments."""
    return {key.value: item for key, item in mapping.entries if isinstance(key, Known) and isinstance(key.value, str)}


def _answer_each(
    interp: Interpreter,
    node: ast.Call,
    function: Value,
    args: list[Value],
    keywords: dict[str, Value],
    several: list[tuple[Condition, dict[str, Value]]],
    frame: Frame,
) -> Value:
    """``f(**one_of_several)``: called with each under its condition."""
    before = frame.pc
    results: list[tuple[Condition, Payload]] = []
    for condition, more in several:
        frame.pc = before & condition
        if not frame.pc.is_false:
            value = _answer(interp, node, function, args, {**keywords, **more}, False, frame)
            results += [(condition & c, p) for c, p in alternatives(value, interp.space.true)]
    frame.pc = before
    return choice(results, interp.unknown(node, frame, *args, *keywords.values()))


def _opaque(value: Value) -> bool:
    return any(isinstance(payload, Opaque) for payload in payloads(value))


def _answer(
    interp: Interpreter, node: ast.Call, function: Value, args: list[Value], keywords: dict[str, Value], spread: bool, frame: Frame
) -> Value:
    if spread:
        return interp.unknown(node, frame, function, *args, *keywords.values())
    special = _special_form(interp, node, function, args, frame)
    if special is not None:
        return special
    return call(interp, function, tuple(args), keywords, frame, node)


def callee_name(interp: Interpreter, node: ast.Call, frame: Frame) -> str:
    """The dotted source of what is called."""
    return interp.text(node.func, frame.module)


def _callee(interp: Interpreter, node: ast.Call, frame: Frame) -> tuple[Value, Value | None]:
    if not isinstance(node.func, ast.Attribute):
        return interp.evaluate(node.func, frame), None
    receiver = interp.evaluate(node.func.value, frame)
    name = node.func.attr
    if isinstance(receiver, (Known, Sequence, Mapping, OptionValue, Truth)) or (
        isinstance(receiver, Choice) and all(isinstance(p, (Known, Sequence, OptionValue)) for _, p in receiver.alternatives)
    ):
        return External(f"method.{name}"), receiver
    return attributes.get(interp, receiver, name, node.func, frame), receiver


def _special_form(interp: Interpreter, node: ast.Call, function: Value, args: list[Value], frame: Frame) -> Value | None:
    if isinstance(function, External):
        dotted = function.dotted
        if dotted.startswith("method.") and isinstance(node.func, ast.Attribute):
            receiver = interp.evaluate(node.func.value, frame)
            return call_method_of_constant(interp, node, receiver, dotted[len("method.") :], args, frame)
        if dotted == "builtins.getattr" and len(args) >= 2:
            return _getattr(interp, node, args, frame)
        if dotted in ("builtins.setattr", "builtins.object.__setattr__") and len(args) == 3:
            return _setattr(interp, node, args, frame)
        if dotted == "builtins.hasattr" and len(args) == 2 and isinstance(args[1], Known) and isinstance(args[1].value, str):
            held = attributes.has(interp, args[0], args[1].value, frame)
            return interp.unknown(node, frame, args[0]) if held is None else truth_value(held)
        if dotted == "builtins.isinstance" and len(args) == 2:
            held = is_instance(interp, args[0], args[1])
            return interp.unknown(node, frame, args[0]) if held is None else truth_value(held)
    return None


def _getattr(interp: Interpreter, node: ast.Call, args: list[Value], frame: Frame) -> Value:
    if not (isinstance(args[1], Known) and isinstance(args[1].value, str)):
        return interp.unknown(node, frame, *args)
    name = args[1].value
    results: list[tuple[Condition, Payload]] = []
    for condition, payload in alternatives(args[0], interp.space.true):
        if isinstance(payload, External) and len(args) == 3 and interp.world.external_exists(f"{payload.dotted}.{name}") is False:
            found: Value | None = args[2]
        else:
            found = attributes.lookup(interp, payload, name, frame)
            if found is None:
                found = interp.world.unknown_attribute(interp, name)
            if found is None and len(args) == 3 and isinstance(payload, Instance) and not payload.escaped:
                found = args[2]
        value = interp.unknown(node, frame, payload) if found is None else found
        results += [(condition & c, p) for c, p in alternatives(value, interp.space.true)]
    return choice(results, interp.unknown(node, frame, args[0]))


def _setattr(interp: Interpreter, node: ast.Call, args: list[Value], frame: Frame) -> Value | None:
    from sm_gatecheck.evaluate.statements import store_attribute

    if not (isinstance(args[1], Known) and isinstance(args[1].value, str)):
        return None
    store_attribute(interp, args[0], args[1].value, args[2], frame, node)
    return Known(None)


def _super(interp: Interpreter, frame: Frame, node: ast.Call) -> Value:
    receiver = frame.variables.get("self", frame.variables.get("cls"))
    if frame.owner is None or receiver is None:
        return interp.unknown(node, frame)
    return Partial(attributes.SUPER, (receiver,), (("owner", frame.owner),))


def call(
    interp: Interpreter, function: Value, args: tuple[Value, ...], keywords: dict[str, Value], frame: Frame, node: ast.Call | None = None
) -> Value:
    """The value of calling ``function``; each alternative is called under its own condition."""
    if not isinstance(function, Choice):
        return _call(interp, function, args, keywords, frame, node)
    before = frame.pc
    results: list[tuple[Condition, Payload]] = []
    for condition, payload in function.alternatives:
        frame.pc = before & condition
        if frame.pc.is_false:
            continue
        value = _call(interp, payload, args, keywords, frame, node)
        results += [(condition & c, p) for c, p in alternatives(value, interp.space.true)]
    frame.pc = before
    return choice(results, _unknown_call(interp, node, frame, args, keywords))


def _unknown_call(interp: Interpreter, node: ast.Call | None, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value]) -> Opaque:
    if node is None:
        return Opaque(f"9:{frame.module.path}:{frame.qualname}()", f"{frame.qualname}()")
    if frame.recorder is not None and not frame.asking and interp.world.acts(callee_name(interp, node, frame)):
        # The call itself was recorded with what it was given: what comes of it is no second reading of the option.
        return interp.unknown(node, frame)
    receiver: tuple[Value, ...] = ()
    if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        held = frame.variables.get(node.func.value.id)
        if isinstance(held, (Opaque, OptionValue)):
            receiver = (held,)
    return interp.unknown(node, frame, *receiver, *args, *keywords.values())


def _call(
    interp: Interpreter, function: Payload, args: tuple[Value, ...], keywords: dict[str, Value], frame: Frame, node: ast.Call | None
) -> Value:
    if isinstance(function, External):
        return _call_external(interp, function.dotted, args, keywords, frame, node)
    if isinstance(function, Partial):
        return _call_partial(interp, function, args, keywords, frame, node)
    if isinstance(function, BoundMethod):
        if isinstance(function.receiver, (Instance, ClassValue, EnumMember)):
            return call_function(interp, function.function, (function.receiver, *args), keywords, frame, node)
        return _unknown_call(interp, node, frame, args, keywords)
    if isinstance(function, FunctionValue):
        return call_function(interp, function, args, keywords, frame, node)
    if isinstance(function, ClassValue):
        return instantiate(interp, function, args, keywords, frame, node)
    return _unknown_call(interp, node, frame, args, keywords)


def _call_external(
    interp: Interpreter, dotted: str, args: tuple[Value, ...], keywords: dict[str, Value], frame: Frame, node: ast.Call | None
) -> Value:
    text = "" if node is None else interp.text(node, frame.module)
    if dotted == IDENTITY.dotted and args:
        return args[0]
    if dotted in _CACHES:
        return args[0] if args and isinstance(args[0], (FunctionValue, BoundMethod, Partial, Choice)) else IDENTITY
    if dotted in ("functools.partial", "functools.partialmethod") and args:
        return Partial(args[0], args[1:], tuple(keywords.items()))
    if dotted.startswith("builtins."):
        value = call_builtin(interp, dotted[len("builtins.") :], args, keywords, frame)
        if value is not None:
            return value
    special = interp.world.external_call(interp, dotted, args, keywords, text)
    if special is None:
        special = call_standard(interp.space, dotted, args, keywords)
    return _unknown_call(interp, node, frame, args, keywords) if special is None else special


def _call_partial(
    interp: Interpreter, partial: Partial, args: tuple[Value, ...], keywords: dict[str, Value], frame: Frame, node: ast.Call | None
) -> Value:
    if partial.function == attributes.SUPER:
        return _unknown_call(interp, node, frame, args, keywords)
    return call(interp, partial.function, partial.args + args, {**dict(partial.keywords), **keywords}, frame, node)


def instantiate(
    interp: Interpreter, cls: ClassValue, args: tuple[Value, ...], keywords: dict[str, Value], frame: Frame, node: ast.Call | None
) -> Value:
    """``Cls(…)``: an enum member, what the rules say, or an object whose constructor is run when its body matters."""
    if classes.is_enum(interp, cls) and len(args) == 1:
        return classes.make_member(interp, cls, args[0])
    special = interp.world.instantiate(interp, cls, args, keywords)
    if special is not None:
        return special
    instance = Instance(cls)
    found = interp.find_member(cls, "__init__")
    if found is None:
        _bind_dataclass_fields(interp, cls, instance, args, keywords)
        return instance
    owner, statements = found
    last = statements[-1]
    if not isinstance(last, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return instance
    constructor = FunctionValue(owner.module, last, owner, None, f"{owner.qualname}.__init__")
    instance.escaped = True
    if interp.world.worth_following(constructor, (*args, *keywords.values())):
        instance.escaped = False
        call_function(interp, constructor, (instance, *args), keywords, frame, node)
    return instance


def _bind_dataclass_fields(
    interp: Interpreter, cls: ClassValue, instance: Instance, args: tuple[Value, ...], keywords: dict[str, Value]
) -> None:
    """The fields of a class without a constructor of its own: as given, else as declared."""
    declared: dict[str, tuple[ClassValue, ast.expr | None]] = {}
    for known in reversed(interp.mro(cls)):
        for statement in known.node.body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                declared[statement.target.id] = (known, statement.value)
    given = {**dict(zip(declared, args)), **{name: value for name, value in keywords.items() if name in declared}}
    for name, (owner, default) in declared.items():
        if name in given:
            instance.attributes[name] = given[name]
        elif default is not None:
            value = _field_default(interp, owner, default)
            if value is not None:
                instance.attributes[name] = value
    instance.escaped = len(declared) == 0


def _field_default(interp: Interpreter, owner: ClassValue, default: ast.expr) -> Value | None:
    """The default of a field: an expression, or what ``field(default=…)`` and ``field(default_factory=…)`` say; None for none."""
    frame = Frame(owner.module, owner.qualname, interp.space.true, owner=owner, depth=REMEMBERED_DEPTH)
    if isinstance(default, ast.Call) and interp.text(default.func, owner.module).rsplit(".", 1)[-1] == "field":
        for keyword in default.keywords:
            if keyword.arg == "default":
                return interp.evaluate(keyword.value, frame)
            if keyword.arg == "default_factory":
                return call(interp, interp.evaluate(keyword.value, frame), (), {}, frame)
        return None
    return interp.evaluate(default, frame)


def call_function(
    interp: Interpreter,
    function: FunctionValue,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    frame: Frame,
    node: ast.Call | None,
) -> Value:
    """Run a function of the tree on these arguments, if its result can matter; remember pure results."""
    special = interp.world.function_call(interp, function, args, keywords, node, frame)
    if special is not None:
        return special
    if frame.discarded is node and node is not None and not any(map(_is_changeable, (*args, *keywords.values()))):
        return Known(None)
    if interp.collecting is not None and id(function.node) not in interp.running and frame.depth < interp.depth_limit:
        interp.running.add(id(function.node))
        try:
            return run_function(interp, function, args, keywords, frame, node, False)
        finally:
            interp.running.discard(id(function.node))
    effectful = frame.recorder is not None and interp.world.follow_effects(frame, function, (*args, *keywords.values()))
    if not effectful and _too_long(function):
        return _unknown_call(interp, node, frame, args, keywords)
    if not (effectful or interp.world.worth_following(function, (*args, *keywords.values()))):
        return _unknown_call(interp, node, frame, args, keywords)
    key = None if effectful or function.closure else _memo_key(function, args, keywords)
    if key is None and frame.depth >= interp.depth_limit:
        return _unknown_call(interp, node, frame, args, keywords)
    if key is not None and key in interp.summaries:
        _pass_on(interp, frame, interp.escapes.get(key, ()))
        return interp.summaries[key]
    identity = id(function.node)
    if identity in interp.running:
        return _unknown_call(interp, node, frame, args, keywords)
    if effectful:
        replayed = interp.world.replay(frame, function, args, keywords)
        if replayed is not None:
            return replayed
    interp.running.add(identity)
    depth, before = frame.depth, len(frame.escapes)
    if key is not None:
        # What is remembered must not hang on who asked first, so it is worked out with all the room there is.
        frame.depth = REMEMBERED_DEPTH
        interp.remembering += 1
    try:
        result = run_function(interp, function, args, keywords, frame, node, effectful)
    finally:
        frame.depth = depth
        interp.remembering -= key is not None
        interp.running.discard(identity)
    if effectful:
        frame.followed = True
        interp.world.finished(frame, result)
    if key is not None:
        interp.summaries[key] = result
        if len(frame.escapes) > before:
            interp.escapes[key] = frame.escapes[before:]
    if interp.tracks_escapes and not effectful:
        left = frame.escapes[before:]
        del frame.escapes[before:]
        _pass_on(interp, frame, left)
    return result


def _pass_on(interp: Interpreter, frame: Frame, left: Iterable[tuple[Condition, str]]) -> None:
    """The exceptions that leave a callee are raised where it is called."""
    for raised, exception in left if interp.tracks_escapes else ():
        escape(frame, exception, frame.pc & raised)


def _is_changeable(value: Value) -> bool:
    """Whether a callee could leave something in a value that its caller sees."""
    return any(
        (isinstance(payload, Instance) and payload.name != classes.ABSTRACT and not payload.transient)
        or (isinstance(payload, Sequence) and any(map(_is_changeable, payload.items)))
        or (isinstance(payload, Mapping) and any(_is_changeable(item) for _, item in payload.entries))
        or isinstance(payload, (Partial, BoundMethod, FunctionValue))
        for payload in payloads(value)
    )


def _too_long(function: FunctionValue) -> bool:
    """Long functions do things; what they return is rarely a plain answer about the target."""
    return (function.node.end_lineno or 0) - function.node.lineno > INLINE_LINES


def _memo_key(function: FunctionValue, args: tuple[Value, ...], keywords: dict[str, Value]) -> object | None:
    """Calls with the same hashable arguments give the same value; objects have identity, so they count too."""
    try:
        key = ("call", id(function.node), args, tuple(sorted(keywords.items())))
        hash(key)
    except TypeError:
        return None
    if any(isinstance(arg, Instance) and not arg.escaped for arg in (*args, *keywords.values())):
        return None
    return key


def run_function(
    interp: Interpreter,
    function: FunctionValue,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    caller: Frame,
    node: ast.Call | None,
    effectful: bool,
) -> Value:
    """Bind parameters, run the body, join what it returns. With ``effectful`` the caller's listener hears the body too."""
    pc = caller.pc if effectful else interp.space.true
    frame = Frame(
        function.module,
        function.qualname or "<function>",
        pc,
        owner=function.owner,
        closure=function.closure,
        recorder=caller.recorder if effectful else None,
        depth=caller.depth + 1,
        guards=list(caller.guards) if effectful else [],
        chain=(*caller.chain, (caller.module, node)) if effectful and node is not None else (),
        catches=list(caller.catches) if effectful else [],
    )
    bind_parameters(interp, function, args, keywords, frame)
    if isinstance(function.node, ast.Lambda):
        return interp.evaluate(function.node.body, frame)
    interp.run(function.node.body, frame)
    result = join_returns(interp, frame, pc)
    if interp.tracks_escapes and not effectful:
        caller.escapes += frame.escapes
    if effectful:
        # The caller goes on where the callee may have come back. What follows a check is judged as if the check had passed:
        # carrying "and no earlier check refused" along would bury every later condition.
        returned = frame.pc
        for condition, _ in frame.returns:
            returned = returned | condition
        if returned.is_false:
            caller.pc = returned
    return result


def join_returns(interp: Interpreter, frame: Frame, entry: Condition) -> Value:
    """The value of a finished activation: each ``return`` under its condition, None where the end was reached."""
    results: list[tuple[Condition, Payload]] = []
    for condition, value in frame.returns:
        results += [(condition & c, p) for c, p in alternatives(value, interp.space.true)]
    if not frame.pc.is_false:
        results.append((frame.pc, Known(None)))
    if not results:
        return Opaque(f"9:{frame.module.path}:{frame.qualname}:never", f"{frame.qualname} does not return")
    return choice(_as_booleans(interp, results), Opaque(f"9:{frame.module.path}:{frame.qualname}()", f"{frame.qualname}()"))


def _as_booleans(interp: Interpreter, results: list[tuple[Condition, Payload]]) -> list[tuple[Condition, Payload]]:
    """Join boolean alternatives into one truth, so that callers test one condition."""
    booleans = [(c, p) for c, p in results if isinstance(p, Truth) or (isinstance(p, Known) and isinstance(p.value, bool))]
    if len(booleans) < 2:
        return results
    reached, held = interp.space.false, interp.space.false
    for condition, payload in booleans:
        reached = reached | condition
        if isinstance(payload, Truth):
            held = held | (condition & payload.condition)
        elif payload == Known(True):
            held = held | condition
    others = [(c, p) for c, p in results if (c, p) not in booleans]
    return [*others, (reached, truth_value(interp.space.widen(held)))]


def bind_parameters(
    interp: Interpreter, function: FunctionValue, args: tuple[Value, ...], keywords: dict[str, Value], frame: Frame
) -> None:
    """Give every parameter its argument, its default, or an unknown."""
    spec = function.node.args
    positional = [*spec.posonlyargs, *spec.args]
    defaults = dict(zip([parameter.arg for parameter in positional][len(positional) - len(spec.defaults) :], spec.defaults))
    for parameter, keyword_default in zip(spec.kwonlyargs, spec.kw_defaults):
        if keyword_default is not None:
            defaults[parameter.arg] = keyword_default
    given = dict(zip([parameter.arg for parameter in positional], args))
    extra = dict(keywords)
    definition = Frame(function.module, function.qualname, interp.space.true, closure=function.closure)
    for parameter in [*positional, *spec.kwonlyargs]:
        name = parameter.arg
        if name in given:
            frame.variables[name] = given[name]
        elif name in extra:
            frame.variables[name] = extra.pop(name)
        elif name in defaults:
            frame.variables[name] = interp.evaluate(defaults[name], definition)
        else:
            frame.variables[name] = unknown_parameter(interp, function, parameter)
    if spec.vararg is not None:
        frame.variables[spec.vararg.arg] = Sequence("tuple", args[len(positional) :])
    if spec.kwarg is not None:
        frame.variables[spec.kwarg.arg] = Mapping(
            tuple((Known(name), value) for name, value in extra.items() if name not in frame.variables)
        )


def unknown_parameter(interp: Interpreter, function: FunctionValue, parameter: ast.arg) -> Value:
    """What a parameter may be when nobody says what it is."""
    annotation = None if parameter.annotation is None else interp.text(parameter.annotation, function.module)
    special = interp.world.parameter(interp, function, parameter.arg, annotation)
    if special is not None:
        return special
    passed = interp.arguments.get((id(function.node), parameter.arg))
    if passed is not None:
        return passed
    if parameter.annotation is not None:
        cls = classes.annotated_class(interp, parameter.annotation, function.module)
        if cls is not None:
            return classes.abstract_instance(interp, cls)
    return Opaque(f"9:{function.module.path}:{function.qualname}:{parameter.arg}", parameter.arg)


def run_with_unknown_arguments(interp: Interpreter, function: FunctionValue, receiver: Value | None, frame: Frame | None = None) -> Frame:
    """Run a function as if called by anyone: every parameter unknown but the receiver. Returns the finished frame."""
    running = frame or Frame(function.module, function.qualname, interp.space.true, owner=function.owner, closure=function.closure, depth=2)
    assert not isinstance(function.node, ast.Lambda)
    spec = function.node.args
    for index, parameter in enumerate([*spec.posonlyargs, *spec.args, *spec.kwonlyargs]):
        if index == 0 and receiver is not None:
            running.variables[parameter.arg] = receiver
        else:
            running.variables.setdefault(parameter.arg, unknown_parameter(interp, function, parameter))
    for star in (spec.vararg, spec.kwarg):
        if star is not None:
            running.variables[star.arg] = Opaque(f"9:{function.module.path}:{function.qualname}:{star.arg}", star.arg)
    interp.run(function.node.body, running)
    return running


def iterate(interp: Interpreter, value: Value) -> list[Value] | None:
    """The items of an iterable known one by one."""
    from sm_gatecheck.evaluate.expressions import sequence_items

    if isinstance(value, ClassValue) and classes.is_enum(interp, value):
        return [classes.make_member(interp, value, raw) for _, raw in classes.enum_members(interp, value)]
    items = sequence_items(value)
    return None if items is None else list(items)


def bind_target(interp: Interpreter, target: ast.expr, value: Value, frame: Frame) -> None:
    """Assign to a name or unpack into several, under the frame's path condition."""
    from sm_gatecheck.evaluate.statements import assign

    assign(interp, target, value, frame, target)


__all__ = ["bind_target", "call", "call_expression", "iterate", "join_returns"]
