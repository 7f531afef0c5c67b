"""The environment variables that a tree reads or declares, as options named ``env:NAME``."""

from __future__ import annotations

from dataclasses import replace

from sm_gatecheck.evaluate.literals import Evaluator
from sm_gatecheck.model.option import Option
from sm_gatecheck.program.modules import Program
from sm_gatecheck.rulebook import Rulebook
from sm_gatecheck.target.options.environment_descriptors import declared_variables
from sm_gatecheck.target.options.environment_reads import read_variables
from sm_gatecheck.target.options.rules import OptionRules


def read_environment(program: Program, rules: Rulebook) -> list[Option]:
    """One option a variable, sorted: where it is declared, else where it is first read, in the order of files.

    Type and default of a variable that is only read are those of the first read that gives a default.
    """
    option_rules = OptionRules.read(rules)
    declared = declared_variables(program, Evaluator(program, option_rules.known), option_rules.environment)
    found = {option.field: option for option in reversed(list(declared))}
    settled = set(found)
    for option in read_variables(program, option_rules.environment):
        earlier = found.setdefault(option.field, option)
        if option.field not in settled and (option.default is not None or option.default_source is not None):
            found[option.field] = replace(earlier, type=option.type, default=option.default, default_source=option.default_source)
            settled.add(option.field)
    return [found[name] for name in sorted(found)]
