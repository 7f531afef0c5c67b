"""``read_options``: the class of the options, its fields, its registering method run, and both merged into a table."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from sm_gatecheck.evaluate.literals import ClassValue, Evaluator, FunctionValue, Instance, NotLiteral, Scope, Thunk
from sm_gatecheck.program.modules import Module, Program
from sm_gatecheck.rulebook import Rulebook
from sm_gatecheck.target.options.annotations import Annotation, literal_values, read_annotated, read_annotation
from sm_gatecheck.target.options.arguments import ParserCalls
from sm_gatecheck.target.options.fields import Field, class_fields, type_text
from sm_gatecheck.target.options.namespaces import namespace_classes, namespace_fields
from sm_gatecheck.target.options.rules import OptionRules
from sm_gatecheck.target.options.table import Declaration, DeclaredField, Gap, OptionTable, deprecations, merge


def read_options(program: Program, rules: Rulebook) -> OptionTable:
    """Every option that the tree's own parser accepts, and the fields that no flag sets. Empty where the tree declares none."""
    option_rules = OptionRules.read(rules)
    for path in option_rules.modules:
        module = program.by_path.get(path)
        if module is not None:
            reader = _Reader(program, option_rules)
            cls = reader.options_class(module)
            if cls is not None:
                return reader.table(module, cls)
    return OptionTable(())


@dataclass
class _Reader:
    """The state of one reading."""

    program: Program
    rules: OptionRules
    fields: dict[str, Field] = field(default_factory=dict)
    annotations: dict[str, Annotation] = field(default_factory=dict)
    declaration: Declaration = "arguments"

    def __post_init__(self) -> None:
        self.parser = ParserCalls(self.rules)
        intercepts: dict[str, Any] = dict.fromkeys(self.rules.registrars, self._add_annotated)
        intercepts.update(dict.fromkeys(self.rules.field_listings, self._listed_fields))
        self.evaluator = Evaluator(self.program, self.rules.known, intercepts)

    def options_class(self, module: Module) -> ClassValue | None:
        try:
            value = self.evaluator.module_attribute(module, self.rules.class_name)
        except NotLiteral:
            return None
        return value if isinstance(value, ClassValue) else None

    def table(self, module: Module, cls: ClassValue) -> OptionTable:
        self._collect_fields(module, cls)
        registering = self._method(cls, self.rules.register)
        if registering is not None:
            self.evaluator.run(registering, self._parser_argument(registering, cls))
        renamed = self._renamed(cls)
        arguments = [
            replace(argument, destination=renamed.get(argument.destination, argument.destination)) for argument in self.parser.arguments
        ]
        options, gaps = merge({name: self._declared(found) for name, found in self.fields.items()}, arguments, self.parser.defaults)
        gaps += [Gap(self.rules.register, "argument", note.reason, note.file, note.line) for note in self.evaluator.notes]
        return OptionTable(
            tuple(options),
            self.declaration,
            deprecations(arguments),
            dict(self._namespaces()),
            dict(self._fallbacks()),
            tuple(gaps),
        )

    # -- fields ---------------------------------------------------------------------------------------------------------

    def _collect_fields(self, module: Module, cls: ClassValue) -> None:
        classes = namespace_classes(cls.module, self.evaluator, self.rules) or namespace_classes(module, self.evaluator, self.rules)
        found = namespace_fields(classes, self.evaluator, self.rules) if classes else class_fields(cls, self.evaluator)
        if classes:
            self.declaration = "namespaces"
        for declared in found:
            annotation = read_annotation(declared, self.evaluator, self.rules)
            if not annotation.is_excluded:
                self.fields[declared.name] = declared
                self.annotations[declared.name] = annotation

    def _declared(self, found: Field) -> DeclaredField:
        annotation = self.annotations[found.name]
        literals = literal_values(annotation.type, annotation.scope, self.evaluator) if isinstance(annotation.type, ast.Subscript) else None
        keywords = annotation.keywords
        return DeclaredField(
            name=found.name,
            type=type_text(annotation.type),
            default=found.default(self.evaluator),
            default_source=found.default_source,
            choices=tuple(literals) if literals is not None else None,
            help=keywords.text(self.rules.keywords["help"]) if keywords is not None else None,
            file=found.file,
            line=found.line,
        )

    def _namespaces(self) -> Iterator[tuple[str, str]]:
        for name, found in self.fields.items():
            path = self.annotations[name].namespace or found.namespace
            if path is not None:
                yield name, path

    def _fallbacks(self) -> Iterator[tuple[str, Any]]:
        keyword = self.rules.keywords.get("fallback", "fallback")
        for name, annotation in self.annotations.items():
            if annotation.keywords is not None and keyword in annotation.keywords:
                yield name, annotation.keywords.literal(keyword)

    # -- the registering method -----------------------------------------------------------------------------------------

    def _method(self, cls: ClassValue, name: str) -> FunctionValue | None:
        found = self.evaluator.find_attribute(cls, name, None, self.evaluator.lineage(cls))
        return found[0] if found is not None and isinstance(found[0], FunctionValue) else None

    def _parser_argument(self, function: FunctionValue, cls: ClassValue) -> dict[str, Any]:
        """The parser as the first parameter that is not the class itself."""
        names = [parameter.arg for parameter in (*function.node.args.posonlyargs, *function.node.args.args)]
        if function.receiver is not None and names:
            return {names[0]: function.receiver, **({names[1]: self.parser} if len(names) > 1 else {})}
        if names and names[0] in ("self", "cls"):
            return {names[0]: cls, **({names[1]: self.parser} if len(names) > 1 else {})}
        return {names[0]: self.parser} if names else {}

    def _add_annotated(self, evaluator: Evaluator, call: ast.Call, scope: Scope) -> None:
        """A registrar is called: an argument for every annotated field (or for those that the call names)."""
        if self.declaration == "arguments":
            self.declaration = "annotations"
        only = next((evaluator.tolerant(keyword.value, scope) for keyword in call.keywords if keyword.arg == self.rules.only), None)
        for name, found in self.fields.items():
            if isinstance(only, (list, tuple, set)) and name not in only:
                continue
            try:
                argument = read_annotated(found, self.annotations[name], evaluator, self.rules)
            except NotLiteral as error:
                evaluator.notes.append(error.unresolved)
                continue
            if argument is not None:
                self.parser.arguments.append(argument)

    def _listed_fields(self, evaluator: Evaluator, call: ast.Call, scope: Scope) -> list[Instance]:
        """The fields of the options class, or of another class, as objects with a name and a default."""
        cls = evaluator.value(call.args[0], scope)
        if not isinstance(cls, ClassValue):
            raise evaluator.refusal("the fields of something else are listed", call, scope)
        own = cls.name == self.rules.class_name
        fields = list(self.fields.values()) if own else list(class_fields(cls, evaluator))
        return [_listed(cls, found, evaluator) for found in fields]

    def _renamed(self, cls: ClassValue) -> dict[str, str]:
        """``args.field = args.destination`` in the methods that turn parsed arguments into an object: destination to field."""
        renamed: dict[str, str] = {}
        for name in self.rules.rename:
            method = self._method(cls, name)
            if method is None:
                continue
            for statement in ast.walk(method.node):
                if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
                    continue
                target, value = statement.targets[0], statement.value
                if (
                    isinstance(target, ast.Attribute)
                    and isinstance(value, ast.Attribute)
                    and ast.dump(target.value) == ast.dump(value.value)
                ):
                    renamed[value.attr] = target.attr
        return renamed


def _listed(cls: ClassValue, found: Field, evaluator: Evaluator) -> Instance:
    attributes: dict[str, Any] = {"name": found.name}
    if found.default_expression is not None:
        attributes["default"] = Thunk(found.default_expression, evaluator.class_scope(found.owner))
    return Instance(cls, attributes)
