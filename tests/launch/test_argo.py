"""Argo workflows: what the fixture leaves out."""

from __future__ import annotations

from tests.launch.conftest import Read


def workflow(template: str, arguments: str = "") -> str:
    lines = "".join(f"      {line}\n" for line in template.splitlines())
    head = "apiVersion: argoproj.io/v1alpha1\nkind: WorkflowTemplate\nspec:\n"
    return f"{head}  arguments: {{parameters: [{arguments}]}}\n  templates:\n    - name: t\n{lines}"


def test_each_call_of_a_template_is_a_launch(read: Read) -> None:
    calls = "".join(
        f"\n    - name: s{tp}\n      steps: [[{{name: a, template: t, arguments: {{parameters: [{{name: tp, value: {tp}}}]}}}}]]"
        for tp in (2, 4)
    )
    launches = read(
        workflow("inputs: {parameters: [{name: tp}]}\ncontainer: {image: x, command: [sglang, serve, --tp, '{{inputs.parameters.tp}}']}")
        + calls[1:]
    )
    assert [launch.values for launch in launches] == [{"tp_size": 2}, {"tp_size": 4}]


def test_parameters_without_a_value_are_listed(read: Read) -> None:
    words = "sglang, serve, '--model-path={{workflow.parameters.m}}', --tp, '{{workflow.parameters.tp}}'"
    (launch,) = read(workflow(f"container: {{image: x, command: [{words}]}}", "{name: m, value: /m}, {name: tp}"))
    assert launch.values == {"model_path": "/m", "tp_size": "{{workflow.parameters.tp}}"}
    assert launch.unresolved == ("{{workflow.parameters.tp}}",)


def test_a_script_is_read_as_one(read: Read) -> None:
    script = "script:\n  image: x\n  command: [bash]\n  source: |\n    TP={{workflow.parameters.tp}}\n    sglang serve --tp $TP --port 3"
    (launch,) = read(workflow(script, "{name: tp, value: '8'}"))
    assert launch.values == {"tp_size": 8, "port": 3}
    assert launch.options["port"].span.line == 12


def test_a_script_in_another_language_is_left_alone(read: Read) -> None:
    assert read(workflow("script: {image: x, command: [python], source: 'print(1)'}")) == ()
