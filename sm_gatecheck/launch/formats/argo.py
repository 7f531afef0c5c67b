"""Argo workflows: containers and scripts of templates, with the parameters that the file itself gives them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sm_gatecheck.launch.formats.interface import NO, SURE, Reading
from sm_gatecheck.launch.formats.kubernetes import checked, manifest_jobs
from sm_gatecheck.launch.job import Job, Setting, Start
from sm_gatecheck.launch.located import Located, Run, SourceText, Word, join
from sm_gatecheck.launch.manifests import Shared, command_words, container_environment, image_text
from sm_gatecheck.launch.yaml_tree import YamlNode

_KINDS = ("Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow", "WorkflowEventBinding")
_PARAMETER = re.compile(r"\{\{-?\s*=?\s*(workflow|inputs|item)(?:\.parameters)?(?:\.([\w.-]+)|\['([^']+)'\])?\s*\}\}")


@dataclass(frozen=True)
class Argo:
    name: str = "argo"
    title: str = "Argo workflow"

    def recognise(self, source: SourceText, reading: Reading) -> int:
        if "argoproj.io" not in source.text:
            return NO
        documents = reading.yaml(source).documents
        return SURE if any((kind := document.get("kind")) is not None and kind.text in _KINDS for document in documents) else NO

    def read(self, source: SourceText, reading: Reading) -> Iterator[Start]:
        documents = checked(source, reading).documents
        for document in documents:
            parameters = _workflow_parameters(document)
            calls = _calls(document)

            def change(owner: YamlNode, job: Job, parameters: dict[str, Located] = parameters, calls: _Calls = calls) -> Iterator[Job]:
                name = owner.get("name")
                for known in _inputs(owner, parameters, calls):
                    yield replace(_filled(job, known), name=name.text if name is not None else job.name)

            seen: set[int] = set()
            yield from _scripts(document, parameters, calls, source, seen)
            yield from manifest_jobs([document], source.directory, reading, change, seen)


_Calls = dict[str, list[dict[str, Located]]]


def _workflow_parameters(document: YamlNode) -> dict[str, Located]:
    found: dict[str, Located] = {}
    for path in (("spec", "arguments"), ("spec", "workflowSpec", "arguments")):
        found.update({f"workflow.{name}": value for name, value in _parameters(document.get(*path)).items()})
    return found


def _parameters(arguments: YamlNode | None) -> dict[str, Located]:
    """Parameters with a value, or the default that stands in for one."""
    listed = arguments.get("parameters") if arguments is not None else None
    found: dict[str, Located] = {}
    for item in listed.items if listed is not None else ():
        name, value = item.get("name"), item.get("value") or item.get("default")
        if name is not None and value is not None and value.is_scalar:
            found[name.text] = value.located
    return found


def _calls(document: YamlNode) -> _Calls:
    """What steps and tasks give the templates that they call."""
    found: _Calls = {}
    for node in document.walk():
        if node.is_mapping and node.get("template") is not None and node.get("arguments") is not None:
            template = node.get("template")
            if template is not None and template.is_scalar:
                found.setdefault(template.text, []).append(_parameters(node.get("arguments")))
    return found


def _inputs(template: YamlNode, parameters: Mapping[str, Located], calls: _Calls) -> Iterator[dict[str, Located]]:
    """What is known of a template's parameters, once for each call of it."""
    name = template.get("name")
    defaults = {f"inputs.{key}": value for key, value in _parameters(template.get("inputs")).items()}
    for given in calls.get(name.text if name is not None else "", []) or [{}]:
        known = {**parameters, **defaults}
        for key, value in given.items():
            known[f"inputs.{key}"] = _put_in(value, parameters)
        yield known


def _scripts(document: YamlNode, parameters: Mapping[str, Located], calls: _Calls, source: SourceText, seen: set[int]) -> Iterator[Job]:
    """``script`` templates: a text run by the command."""
    for template in document.walk():
        script = template.get("script") if template.is_mapping else None
        if script is None or not script.is_mapping:
            continue
        text = script.get("source")
        heads = [word.text.rsplit("/", 1)[-1] for word in command_words(script.get("command"))]
        if text is None or any(head.startswith("python") for head in heads):
            continue
        seen.update((id(script.raw), id(text.raw)))
        notes: list[str] = []
        name = template.get("name")
        job = Job(
            name=name.text if name is not None else None,
            script=text.located,
            environment=container_environment(script, Shared(), notes),
            image=image_text(script.get("image")) or Located(),
            notes=tuple(notes),
            directory=source.directory,
        )
        for known in _inputs(template, parameters, calls):
            yield _filled(job, known)


def _filled(job: Job, known: Mapping[str, Located]) -> Job:
    return replace(
        job,
        words=tuple(Word(_put_in(word.value, known), word.written) for word in job.words),
        script=_put_in(job.script, known) if job.script is not None else None,
        environment={name: Setting(_put_in(setting.value, known), setting.name) for name, setting in job.environment.items()},
        image=_put_in(job.image, known) if job.image is not None else None,
    )


def _put_in(text: Located, known: Mapping[str, Located], depth: int = 0) -> Located:
    """A text with its parameters put in; those that are not known stay as they are."""
    parts: list[Located] = []
    changed = False
    for run in text.runs:
        value = _value(run, known)
        if value is None or depth > 4:
            parts.append(Located((run,)))
        else:
            changed = True
            parts.append(_put_in(value, known, depth + 1))
    return join((*parts, Located((), text.anchor))) if changed else text


def _value(run: Run, known: Mapping[str, Located]) -> Located | None:
    match = _PARAMETER.fullmatch(run.text) if run.unresolved is not None else None
    if match is None:
        return None
    return known.get(f"{match[1]}.{match[2] or match[3] or ''}")


FORMAT = Argo()
