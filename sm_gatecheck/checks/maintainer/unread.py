"""GC306: an option or a variable that is declared, and that nothing reads."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sm_gatecheck.checks.subject import Remark, Remarks, Subject
from sm_gatecheck.model.option import Option
from sm_gatecheck.program.modules import Module

RULE = "GC306"
_IDENTIFIER = re.compile(rb"[A-Za-z_]\w{2,}")
_RETIRED = re.compile(r"\bdeprecated\b|\bno longer\b|\bno effect\b|\bobsolete\b|\bignored\b", re.IGNORECASE)


def of_tree(subject: Subject) -> Remarks:
    """A remark for each; what says of itself that it is retired is left out, and so is what another package may read."""
    declared = {option.field.removeprefix("env:"): option for option in _declared(subject)}
    read = _read_names(subject, declared)
    for name, option in declared.items():
        if name in read or subject.session.mentions.may_be_computed(name):
            continue
        what = f"the variable {name}" if option.is_environment else f"the option {name}"
        message = f"{what} is declared here, and nothing in the tree reads it: setting it changes nothing"
        yield Remark(option.file, option.line, message, subject.space.all_bits, (option.field,), option.field)


def _declared(subject: Subject) -> Iterator[Option]:
    for option in subject.session.options:
        if option.action != "deprecated" and option.flags and not _RETIRED.search(option.help or ""):
            yield option
    for option in subject.session.variables:
        name = option.field.removeprefix("env:")
        if option.action != "deprecated" and name.startswith(subject.session.reading.own_variables) and _is_declaration(subject, option):
            yield option


def _is_declaration(subject: Subject, option: Option) -> bool:
    """Whether a variable stands where it is declared, not where something reads it."""
    module = subject.session.program.by_path.get(option.file)
    line = "" if module is None or not 0 < option.line <= len(module.lines) else module.lines[option.line - 1]
    return re.match(rf"\s*{re.escape(option.field.removeprefix('env:'))}\s*(?::[^=]+)?=", line) is not None


def _read_names(subject: Subject, declared: dict[str, Option]) -> set[str]:
    """The names that stand somewhere as more than a declaration, a comment or something that is written to."""
    wanted = {name.encode(): name for name in declared}
    classes = "|".join(re.escape(dotted.rpartition(".")[2]) for dotted in sorted(subject.session.reading.option_classes))
    # The declaration of a flag quotes the default of its field, and may say where it is stored.
    quoted = re.compile(rf"\b(?:{classes})\.$|\bdest=[\"']$".encode())
    found: set[str] = set()
    for module in subject.session.program.modules():
        for match in _IDENTIFIER.finditer(module.source):
            name = wanted.get(match.group())
            if name is not None and name not in found and _is_read(module, match.span(), declared[name], quoted):
                found.add(name)
    return found


def _is_read(module: Module, span: tuple[int, int], option: Option, quoted: re.Pattern[bytes]) -> bool:
    source, (start, end) = module.source, span
    line_start = source.rfind(b"\n", 0, start) + 1
    before, after = source[line_start:start], source[end : end + 24]
    if before.lstrip().startswith(b"#"):
        return False
    if module.path == option.file and source.count(b"\n", 0, start) + 1 == option.line:
        return False
    if quoted.search(before):
        return False
    return not re.match(rb"[ \t]*(?::[^=\n]+)?=(?!=)", after)
