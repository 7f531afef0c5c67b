"""From what was found in a file to launches: arguments parsed, files of arguments put before them, conditions told apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from sm_gatecheck.launch.arguments import Parsed, nearest, parse_arguments
from sm_gatecheck.launch.config import ConfigWords, config_words
from sm_gatecheck.launch.files import Companions
from sm_gatecheck.launch.job import ConfigFile, EngineCall, Invocation, Keyword, Outcome, Setting
from sm_gatecheck.launch.located import Located, Word, printable, substitute
from sm_gatecheck.launch.model import Extent, Launch, LaunchValue, Problem, VersionMention
from sm_gatecheck.launch.rules import EntryRule, LaunchRules, applies
from sm_gatecheck.target.options import OptionTable


@dataclass
class Settings:
    """What one way through an invocation sets."""

    parsed: Parsed
    environment: dict[str, LaunchValue]
    ignored: dict[str, LaunchValue] = field(default_factory=dict)
    config: str | None = None


@dataclass(frozen=True)
class Builder:
    """Makes the launches of one file. ``version`` is the release that the options are of, where it is known."""

    rules: LaunchRules
    table: OptionTable | None
    companions: Companions
    inherited: Mapping[str, str]
    format: str
    version: str | None = None

    def of_outcome(self, outcome: Outcome) -> Launch:
        invocation = outcome.invocation
        base = self._settings(invocation)
        options, environment = dict(base.parsed.options), dict(base.environment)
        conditional: dict[str, list[LaunchValue]] = {}
        unresolved = [*invocation.notes, *base.parsed.unresolved, *_unknown_in(environment)]
        problems = [*invocation.problems, *base.parsed.problems]
        for variant in outcome.variants:
            without, with_it = self._settings(variant.against), self._settings(variant.invocation)
            _compare(without.parsed.options, with_it.parsed.options, options, conditional, variant.when, variant.replaces, "")
            _compare(without.environment, with_it.environment, environment, conditional, variant.when, variant.replaces, "env:")
            unresolved.extend(name for name in with_it.parsed.unresolved if name not in without.parsed.unresolved)
            known = {problem.message for problem in (*without.parsed.problems, *problems)}
            problems.extend(problem for problem in with_it.parsed.problems if problem.message not in known)
        for name, setting in list(environment.items()):
            if setting.when is not None and setting.when.startswith(_ELSEWHERE):
                del environment[name]
        if invocation.image is not None:
            unresolved.extend(f"{name} (image only)" for name in invocation.image.unresolved)
        return self._launch(
            invocation.extent, invocation.entry.name, options, environment, conditional, base.ignored, unresolved, problems,
            invocation.versions, invocation.name, " and ".join(invocation.when) or None, base.config,
        )  # fmt: skip

    def of_engine(self, call: EngineCall) -> Launch:
        options: dict[str, LaunchValue] = {}
        conditional: dict[str, list[LaunchValue]] = {}
        problems = list(call.problems)
        unresolved = list(call.notes)
        known = {option.field: option for option in self.table or () if not option.is_environment}
        for keyword in call.keywords:
            if self.table is not None and keyword.name not in known:
                near = _nearest_field(keyword.name, known)
                hint = f"; did you mean {near}?" if near else ""
                problems.append(Problem("unknown-field", f"{keyword.name}: no such option{hint}", keyword.extent.span, keyword.name, near))
                continue
            setting = _keyword_value(keyword)
            unresolved.extend(keyword.unresolved)
            if keyword.when is not None:
                conditional.setdefault(keyword.name, []).append(setting)
            else:
                earlier = options.pop(keyword.name, None)
                options[keyword.name] = replace(setting, overridden=(*earlier.overridden, earlier) if earlier is not None else ())
        environment = {name: _environment_value(name, setting) for name, setting in call.environment.items()}
        unresolved.extend(_unknown_in(environment))
        return self._launch(
            call.extent, call.entry, options, environment, conditional, {}, unresolved, problems, call.versions, call.name, call.when, None
        )

    def of_config(self, config: ConfigFile) -> Launch:
        place = config.text.extent
        assert place is not None
        found = config_words(config.text, place.file, self.table, self.rules.era(self._release(config.versions)))
        parsed = parse_arguments(found.words, self.table, help_flags=self.rules.help_flags)
        start = found.words[0].extent if found.words else replace(place, end_line=place.line, end_column=place.column, end=place.start)
        return self._launch(
            start, self.rules.config_entry, parsed.options, {}, {}, found.ignored, parsed.unresolved,
            [*found.problems, *parsed.problems], config.versions, None, None, place.file,
        )  # fmt: skip

    # -- one way through an invocation -------------------------------------------------------------------------------------

    def _settings(self, invocation: Invocation) -> Settings:
        words = self._own_words(invocation)
        problems: list[Problem] = []
        notes: list[str] = []
        flag = self.rules.config_flag
        index = _position(words, flag) if self.table is None or flag in self.table.by_flag else None
        before, config = self._config(words, index, invocation, notes)
        if index is not None and index + 1 < len(words):
            words = [*before.words, *words[:index], *words[index + 2 :]]
        problems.extend(self._unread_config(words))
        parsed = parse_arguments(words, self.table, has_own_flags=invocation.entry.has_own_flags, help_flags=self.rules.help_flags)
        parsed.problems[:0] = [*problems, *before.problems]
        parsed.unresolved.extend(notes)
        environment = {name: _environment_value(name, setting) for name, setting in invocation.environment.items()}
        if invocation.image is None:
            for name, text in sorted(self.inherited.items()):
                if name not in environment and any(fnmatchcase(name, pattern) for pattern in self.rules.variables):
                    environment[name] = LaunchValue(
                        text, invocation.extent.span, name, invocation.extent, text=text, assumed=("set on this machine",)
                    )
        return Settings(parsed, environment, before.ignored, config)

    def _own_words(self, invocation: Invocation) -> list[Word]:
        """The words that reach the server's parser: without the entry point's own flags, a bare model given its flag."""
        entry = invocation.entry
        words = list(invocation.words)
        kept: list[Word] = []
        index = 0
        while index < len(words):
            text = words[index].text
            if text in entry.consumed:
                index += 2
                continue
            if not any(text.startswith(f"{flag}=") for flag in entry.consumed):
                kept.append(words[index])
            index += 1
        return self._with_positional(kept, entry, invocation)

    def _with_positional(self, words: list[Word], entry: EntryRule, invocation: Invocation) -> list[Word]:
        if entry.positional is None or not applies(entry.positional_versions, self._release(invocation.versions)):
            return words
        if (
            not words
            or words[0].text.startswith("-")
            or words[0].is_empty_default
            or (words[0].starts_unresolved and len(words[0].value.runs) > 1)
        ):
            return words
        if words[0].starts_unresolved and any(word.text.partition("=")[0] == entry.positional for word in words):
            return words
        flag = substitute(entry.positional, words[0].value) if words[0].value.runs else Located((), words[0].extent)
        return [Word(flag), *words] if flag.runs else words

    def _config(self, words: Sequence[Word], index: int | None, invocation: Invocation, notes: list[str]) -> tuple[ConfigWords, str | None]:
        """The words of the file that ``--config`` names, and its name once it was read."""
        if index is None or index + 1 >= len(words):
            return ConfigWords(), None
        word = words[index + 1]
        if word.unresolved:
            return ConfigWords(), None
        if invocation.is_container:
            text = invocation.inside.read(word.text, self.companions)
        else:
            source = self.companions.read(word.text, invocation.directory)
            text = source.located() if source is not None else None
        if text is None:
            notes.append(f"{self.rules.config_flag} {word.text} (not available)")
            return ConfigWords(), None
        return config_words(text, word.text, self.table, self.rules.era(self._release(invocation.versions))), word.text

    def _unread_config(self, words: Sequence[Word]) -> Iterable[Problem]:
        """``--config=FILE`` passes the parser and is never read: only the flag by itself is looked for."""
        flag = self.rules.config_flag
        for word in words:
            if word.text.startswith(f"{flag}="):
                instead = f"{flag} {printable(word.text[len(flag) + 1 :])}"
                yield Problem("config", f"{printable(word.text)} is not read: write {instead}", word.extent.span, flag, instead)

    def _release(self, versions: Sequence[VersionMention]) -> str | None:
        return self.version or (versions[0].version if versions else None)

    def _launch(
        self,
        extent: Extent,
        entry: str,
        options: Mapping[str, LaunchValue],
        environment: Mapping[str, LaunchValue],
        conditional: Mapping[str, Sequence[LaunchValue]],
        ignored: Mapping[str, LaunchValue],
        unresolved: Iterable[str],
        problems: Iterable[Problem],
        versions: Sequence[VersionMention],
        name: str | None,
        when: str | None,
        config: str | None,
    ) -> Launch:
        model = options.get(self.rules.model)
        mention = next((found for found in versions if found.source == "image"), versions[0] if versions else None)
        return Launch(
            file=extent.file,
            line=extent.line,
            entry=entry,
            format=self.format,
            span=extent.span,
            options=options,
            environment=environment,
            conditional={key: tuple(values) for key, values in conditional.items() if values},
            ignored=ignored,
            unresolved=tuple(dict.fromkeys(printable(note) for note in unresolved)),
            problems=tuple(dict.fromkeys(problems)),
            sglang_version=mention,
            model_path=model.value if model is not None and model.is_resolved and isinstance(model.value, str) else None,
            name=name,
            when=when,
            config=config,
        )


_ELSEWHERE = "not ("
"""How a condition reads under which something else is done."""


def _compare(
    without: Mapping[str, LaunchValue],
    with_it: Mapping[str, LaunchValue],
    base: dict[str, LaunchValue],
    conditional: dict[str, list[LaunchValue]],
    when: str,
    replaces: bool,
    prefix: str,
) -> None:
    """What one condition adds or changes goes to ``conditional``; and what is only done without it, where that is a branch too."""
    for name, setting in with_it.items():
        before = without.get(name)
        if before is None or before.value != setting.value:
            _note(conditional, prefix + name, replace(setting, when=when))
    if not replaces:
        return
    for name, setting in without.items():
        after = with_it.get(name)
        if (after is None or after.value != setting.value) and name in base and base[name].value == setting.value:
            _note(conditional, prefix + name, replace(base.pop(name), when=f"{_ELSEWHERE}{when})"))


def _note(conditional: dict[str, list[LaunchValue]], name: str, setting: LaunchValue) -> None:
    known = conditional.setdefault(name, [])
    if not any((other.value, other.when) == (setting.value, setting.when) for other in known):
        known.append(setting)


def _environment_value(name: str, setting: Setting) -> LaunchValue:
    value = setting.value
    return LaunchValue(
        value=printable(value.text),
        span=setting.name.span,
        flag=name,
        extent=setting.name,
        value_extents=(value.extent,) if value.extent is not None else (),
        text=printable(value.text),
        when=setting.when,
        assumed=value.assumed,
        unresolved=value.unresolved,
    )


def _unknown_in(environment: Mapping[str, LaunchValue]) -> Iterable[str]:
    """What values of the environment rest on; a list that is only added to (``PATH=…:$PATH``) needs no mention."""
    for name, setting in environment.items():
        for reference in setting.unresolved:
            if reference.strip("${}") != name and not reference.startswith(f"${{{name}:"):
                yield reference


def _keyword_value(keyword: Keyword) -> LaunchValue:
    return LaunchValue(
        value=_printable_value(keyword.value),
        span=keyword.extent.span,
        flag=keyword.name,
        extent=keyword.extent,
        value_extents=(keyword.value_extent,),
        text=printable(keyword.text),
        when=keyword.when,
        assumed=keyword.assumed,
        unresolved=keyword.unresolved,
    )


def _printable_value(value: Any) -> Any:
    """A literal with every text in it fit for any output, a tuple as the list that JSON makes of it."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {printable(key) if isinstance(key, str) else key: _printable_value(inner) for key, inner in value.items()}
    return [_printable_value(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def _nearest_field(name: str, known: Mapping[str, Any]) -> str | None:
    flags = {f"--{field.replace('_', '-')}": field for field in known}
    near = nearest(name, flags)
    return flags.get(near) if near is not None else None


def _position(words: Sequence[Word], text: str) -> int | None:
    return next((index for index, word in enumerate(words) if word.text == text and not word.unresolved), None)
