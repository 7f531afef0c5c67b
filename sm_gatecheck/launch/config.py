"""A file of arguments (``--config FILE``): YAML keys as flags, the way the server turns them into words before it parses."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from sm_gatecheck.launch.flags import is_switch_pair
from sm_gatecheck.launch.located import Located, Word, before, printable, substitute
from sm_gatecheck.launch.model import Extent, LaunchValue, Problem
from sm_gatecheck.launch.rules import ConfigEra
from sm_gatecheck.launch.yaml_tree import YamlNode, YamlTree
from sm_gatecheck.model.option import Option
from sm_gatecheck.model.span import Span
from sm_gatecheck.target.options import OptionTable


@dataclass
class ConfigWords:
    """The words that a file stands for; ``ignored`` are keys that add none."""

    words: list[Word] = field(default_factory=list)
    ignored: dict[str, LaunchValue] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def config_words(text: Located, name: str, table: OptionTable | None, era: ConfigEra) -> ConfigWords:
    """What a file adds before the words of the command line. Read as YAML 1.1, where ``yes`` is true."""
    result = ConfigWords()
    tree = YamlTree(text, version=(1, 1))
    place = text.extent
    start = place.span if place is not None else Span(name, 1)
    if tree.problem is not None:
        first = start.line if place is not None else 1
        result.problems.append(Problem("config", f"no YAML: {tree.problem}", Span(name, first + tree.problem.line - 1)))
        return result
    root = tree.documents[0] if tree.documents else None
    if root is not None and not root.is_null and not root.is_mapping:
        result.problems.append(Problem("config", "a file of arguments has to be a mapping: the server refuses it", start))
    by_key = _by_key(table)
    for key, value in root.entries.values() if root is not None else ():
        _add(key, value, by_key, era, result)
    return result


def _by_key(table: OptionTable | None) -> dict[str, Option]:
    """Options by what a key may be: the field, or a flag, dashes and underscores alike."""
    found: dict[str, Option] = {}
    for option in table or ():
        for flag in (*option.flags, *option.deprecated_flags):
            found.setdefault(flag.lstrip("-").replace("-", "_"), option)
        found[option.field] = option
    return found


def _add(key: YamlNode, value: YamlNode, by_key: dict[str, Option], era: ConfigEra, result: ConfigWords) -> None:
    name = key.text
    option = by_key.get(name.replace("-", "_"))
    if (
        option is not None
        and option.action in era.refused
        and not (option.action == "other" and is_switch_pair(option) and not era.refused)
    ):
        result.problems.append(
            Problem("config", f"{name} cannot stand in a file of arguments: the server refuses it", key.extent.span, f"--{name}")
        )
        return
    flag = _flag(key)
    plain = value.value if value.is_scalar else None
    if isinstance(plain, bool):
        is_switch = option.action == "store_true" if option is not None else True
        if plain and (is_switch or era.false == "dropped"):
            result.words.append(flag)
        elif is_switch or era.false == "dropped":
            result.ignored[option.field if option is not None else name.replace("-", "_")] = _ignored(key, value)
        else:
            result.words.extend((flag, _word(str(plain).lower(), value)))
    elif value.is_list:
        if value.items:
            result.words.append(flag)
            result.words.extend(_word(_text(item), item) for item in value.items)
    elif value.is_mapping:
        inner = value.plain()
        result.words.extend((flag, _word(json.dumps(inner) if era.mappings == "json" else str(inner), value)))
    elif value.located.unresolved:
        result.words.extend((flag, Word(value.located)))
    else:
        text = _text(value)
        result.words.extend((flag, Word(value.located) if text == value.text and text else _word(text, value)))


def _text(node: YamlNode) -> str:
    """A value as the server writes it on its command line: with ``str``."""
    if node.is_scalar:
        value = node.value
        return node.text if isinstance(value, str) else str(value)
    return str(node.plain())


def _flag(key: YamlNode) -> Word:
    return Word(before("--", key.located) + key.located)


def _word(text: str, node: YamlNode) -> Word:
    start, end = node.raw.start_mark.index, node.raw.end_mark.index
    found = substitute(text, node.tree.base, start, end)
    return Word(found if found.runs else Located((), node.extent))


def _ignored(key: YamlNode, value: YamlNode) -> LaunchValue:
    extent: Extent = key.extent
    shown: Any = value.value
    return LaunchValue(shown, extent.span, printable(key.text), extent, (value.extent,), text=printable(value.text), is_stored=False)
