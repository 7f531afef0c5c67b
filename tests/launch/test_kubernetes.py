"""Kubernetes manifests: what the fixtures leave out."""

from __future__ import annotations

from typing import Any

import pytest

from tests.launch.conftest import Read


def pod(container: str) -> str:
    lines = "".join(f"      {line}\n" for line in container.splitlines())
    head = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n"
    return f"{head}    - name: c\n      image: lmsysorg/sglang:v0.5.9\n{lines}"


CONTAINER = "{name: c, image: x, command: [sglang, serve, --model-path, /m]}"


@pytest.mark.parametrize(
    ("container", "values"),
    [
        ('command: ["sglang", "serve"]\nargs: ["--model-path", "/m", "--tp=2"]', {"tp_size": 2}),
        ("command:\n- sglang\n- serve\nargs:\n- --model-path\n- /m\n- --tp\n- '2'", {"tp_size": 2}),
        ("command: [sh, -c]\nargs:\n- >-\n  sglang serve --model-path /m\n  --tp 2", {"tp_size": 2}),
        ("command: [bash, -lc, 'sglang serve --model-path /m --tp $(TP)']\nenv: [{name: TP, value: '2'}]", {"tp_size": 2}),
        ("command: [bash, -c, 'sglang serve --model-path /m --tp $TP']\nenv: [{name: TP, value: '2'}]", {"tp_size": 2}),
        ("args: [--model-path, /m, --tp, '2']", {"tp_size": 2}),
        (
            "command: [sglang, serve, --model-path, /m]\nargs: ['$(A)']\nenv: [{name: B, value: --tp=2}, {name: A, value: $(B)}]",
            {"tp_size": 2},
        ),
        ("command: [env, TP=1, sglang, serve, --model-path=/m]", {}),
        ("command: [sglang, serve, --model-path, /m, --json-model-override-args, '{\"a\": 1}']", {"json_model_override_args": '{"a": 1}'}),
    ],
)
def test_commands_in_every_form(container: str, values: dict[str, Any], read: Read) -> None:
    (launch,) = read(pod(container))
    assert launch.values == {"model_path": "/m", **values}
    assert (launch.name, launch.problems, launch.unresolved) == ("p/c", (), ())


@pytest.mark.parametrize(
    "document",
    [
        "kind: Job\nspec: {template: {spec: {containers: [CONTAINER]}}}",
        "kind: CronJob\nspec: {jobTemplate: {spec: {template: {spec: {containers: [CONTAINER]}}}}}",
        "kind: RayCluster\nspec: {workerGroupSpecs: [{template: {spec: {containers: [CONTAINER]}}}]}",
        "kind: Thing\nspec: {roles: {decode: {container: CONTAINER}}}",
        "kind: List\nitems: [{kind: Pod, spec: {containers: [CONTAINER]}}]",
        "kind: RayJob\nspec: {entrypoint: sglang serve --model-path /m}",
    ],
)
def test_whatever_holds_a_container(document: str, read: Read) -> None:
    (launch,) = read("apiVersion: example/v1\n" + document.replace("CONTAINER", CONTAINER) + "\n")
    assert launch.model_path == "/m"


def test_documents_are_read_one_by_one(read: Read) -> None:
    launches = read(
        "\n---\n".join(
            [pod("command: [sglang, serve, --model-path, /a]"), "kind: Service\napiVersion: v1", pod("args: [--model-path, /b]")]
        )
    )
    assert [launch.model_path for launch in launches] == ["/a", "/b"]


def test_values_from_elsewhere_are_listed(read: Read) -> None:
    (launch,) = read(
        pod(
            """command: [sglang, serve, --model-path, $(MODEL), --api-key, $(KEY)]
env:
- {name: KEY, valueFrom: {secretKeyRef: {name: s, key: k}}}
- {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
- {name: EMPTY}
envFrom: [{configMapRef: {name: cm}}, {secretRef: {name: sec}}]"""
        )
    )
    assert launch.values == {"model_path": "$(MODEL)", "api_key": "$(KEY)"}
    assert launch.unresolved == (
        "envFrom configMapRef cm (not available)",
        "envFrom secretRef sec (not available)",
        "$KEY (secretKeyRef s k)",
        "$NODE (fieldRef spec.nodeName)",
        "$(MODEL)",
        "$(KEY)",
    )
    assert {name: setting.value for name, setting in launch.environment.items()} == {"EMPTY": ""}


def test_a_script_that_others_mount(read: Read) -> None:
    (launch,) = read(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\ndata:\n  run.sh: |\n    sglang serve --model-path /m \\\n      --tp 2\n"
    )
    assert (launch.name, launch.line, launch.values) == ("cm", 6, {"model_path": "/m", "tp_size": 2})
    assert (launch.options["tp_size"].span.line, launch.options["tp_size"].span.column) == (7, 7)
