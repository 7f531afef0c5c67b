"""What an expression of a tree is worth, where its source alone says so. Knows no SGLang, imports nothing it reads.

``Evaluator.literal(expression, scope)`` gives the Python literal that the expression stands for (lists, dicts, strings,
numbers; an enum member gives its value), or ``Unresolved`` with the reason why not. Names are followed across modules
through ``Program``; small functions, loops over tables, comprehensions and in-place changes of module constants are
run by a step-limited interpreter that touches no attribute of a real object but the methods of plain containers.

The interpreter meets the outside at two places that the caller may fill: ``known`` (values of external names such as
``os.environ``) and ``Native`` objects, whose method calls are handed to the caller together with their syntax: this is
how a declaration such as ``parser.add_argument(…)`` is read without an argument parser.
"""

from sm_gatecheck.evaluate.literals.evaluator import Evaluator
from sm_gatecheck.evaluate.literals.scope import Scope
from sm_gatecheck.evaluate.literals.values import (
    ClassValue,
    EnumMember,
    External,
    FunctionValue,
    Instance,
    ModuleValue,
    Native,
    NotLiteral,
    Thunk,
    TypeForm,
    Unresolved,
    plain,
)

__all__ = [
    "ClassValue",
    "EnumMember",
    "Evaluator",
    "External",
    "FunctionValue",
    "Instance",
    "ModuleValue",
    "Native",
    "NotLiteral",
    "Scope",
    "Thunk",
    "TypeForm",
    "Unresolved",
    "plain",
]
