"""Reports made by hand: one of every verdict, and one whose every string is hostile."""

from __future__ import annotations

from sm_gatecheck.model.gaps import NotFollowed, Reason
from sm_gatecheck.model.option import Option
from sm_gatecheck.model.report import Assumptions, Coverage, Diagnostic, GitFacts, Report, Source, Statistics
from sm_gatecheck.model.target import Devices, Product, Target
from sm_gatecheck.model.verdict import (
    DefaultAlternative,
    Effect,
    EffectKind,
    Evidence,
    Judgement,
    OptionReport,
    Phase,
    Role,
    Verdict,
)
from sm_gatecheck.verdicts.findings import findings_of

DEVICES = Devices(
    (
        Target(90, "Hopper", (Product("H100"), Product("H200"), Product("GH200"))),
        Target(100, "Blackwell", (Product("B200"),)),
        Target(103, "Blackwell", ()),
        Target(120, "Blackwell", (Product("RTX PRO 6000"), Product("RTX 5090"))),
        Target(121, "Blackwell", (Product("GB10"),)),
    )
)

ARGS = "srt/server_args.py"
LAYER = "srt/layers/attention/very_long_directory_name/fast_path_backend.py"


def _option(field: str, line: int, **more: object) -> Option:
    flag = "--" + field.replace("_", "-")
    return Option(**{"field": field, "flags": (flag,), "file": ARGS, "line": line, **more})  # type: ignore[arg-type]


def _gate(file: str, line: int, source: str, *true_on: int) -> Evidence:
    return Evidence(Role.GATE, file, line, 9, source, true_on)


def _fused(sm: int) -> Judgement:
    gate = _gate("srt/layers/communicator.py", 31, "_is_sm90 or _is_sm100", 90, 100, 103)
    site = Evidence(Role.SITE, "srt/layers/communicator.py", 32, 14, "get_args().enable_fused_reduce", (90, 100, 103, 120, 121))
    if sm in (90, 100):
        behaviour = Effect(EffectKind.BEHAVIOUR, Phase.RUNTIME, "fused_reduce(hidden)", "srt/layers/communicator.py", 33)
        return Judgement(sm, True, Verdict.ACTIVE, f"works on SM{sm}", (90, 100, 103), (behaviour,), (gate, site))
    effects = (
        Effect(EffectKind.SETS_OPTION, Phase.RESOLUTION, "self.disable_graphs = True", ARGS, 210, "disable_graphs", True),
        Effect(EffectKind.ALLOCATES, Phase.STARTUP, "make_workspace(512 * MIB)", "srt/model_runner.py", 98, when="tp_size > 1"),
        Effect(EffectKind.SETS_ENV, Phase.RESOLUTION, 'os.environ["LINK_ENABLE"] = "1"', ARGS, 211, "env:LINK_ENABLE", "1"),
    )
    summary = f"On SM{sm} the fused reduction is never reached, while resolution and start-up still act on the option."
    return Judgement(sm, True, Verdict.NOOP_WITH_SIDE_EFFECTS, summary, (90, 100, 103), effects, (gate, site))


def _backend(sm: int, value: str) -> Judgement:
    gate = _gate(ARGS, 300, f'self.attention_backend == "{value}" and not is_sm100()', 90, 120, 121)
    if value == "triton" or sm == 100:
        return Judgement(sm, value, Verdict.ACTIVE, "works", (90, 100, 103, 120, 121), (), (gate,))
    phase = Phase.STARTUP if value == "paged_mla" else Phase.RESOLUTION
    raises = Effect(EffectKind.RAISES, phase, 'ValueError("needs SM100")', ARGS, 301, when="use_mla" if value == "paged_mla" else None)
    return Judgement(sm, value, Verdict.REJECTED, f"{value} is refused on SM{sm}: it asks for SM100.", (100,), (raises,), (gate,))


def sample(sms: tuple[int, ...] = (90, 100, 120, 121)) -> Report:
    """A report with every verdict in it, for some of SM 90, 100, 120 and 121."""
    options = [
        OptionReport(
            _option("attention_backend", 40, type="Optional[str]", choices=("triton", "paged_mha", "ragged_mha", "paged_mla")),
            tuple(_backend(sm, value) for value in ("triton", "paged_mha", "ragged_mha", "paged_mla") for sm in sms),
            tuple(
                (
                    sm,
                    (
                        DefaultAlternative("paged_mha" if sm == 100 else "triton", None if sm == 100 else "not use_mla", ARGS, 290),
                        *(() if sm == 100 else (DefaultAlternative("ragged_mha", "use_mla", ARGS, 292),)),
                    ),
                )
                for sm in sms
            ),
        ),
        OptionReport(_option("enable_fused_reduce", 41, type="bool", default=False), tuple(_fused(sm) for sm in sms)),
        OptionReport(_option("max_running", 42, type="int", default=8), ()),
        OptionReport(
            _option("page_size", 43, type="Optional[int]"),
            tuple(
                Judgement(
                    sm,
                    16,
                    Verdict.OVERRIDDEN if sm == 100 else Verdict.ACTIVE,
                    "becomes 64, with a warning" if sm == 100 else "works",
                    (90, 120, 121),
                    (
                        Effect(EffectKind.SETS_OPTION, Phase.RESOLUTION, "self.page_size = 64", ARGS, 330, "page_size", 64, "use_mla"),
                        Effect(EffectKind.WARNS, Phase.RESOLUTION, 'logger.warning("page size")', ARGS, 331, when="use_mla"),
                    )
                    if sm == 100
                    else (),
                    (_gate(ARGS, 329, "is_sm100()", 100),),
                )
                for sm in sms
            ),
        ),
        OptionReport(
            _option("enable_wide_loads", 44, type="bool", default=False),
            tuple(
                Judgement(
                    sm,
                    True,
                    Verdict.ACTIVE if sm == 90 else Verdict.NOOP,
                    "loads wide" if sm == 90 else f"SM{sm} always loads narrow.",
                    (90,),
                    (),
                    (_gate("srt/loader.py", 12, "major() == 9", 90),),
                )
                for sm in sms
            ),
        ),
        OptionReport(
            _option("enable_two_halves", 45, type="bool", default=False),
            tuple(
                Judgement(
                    sm,
                    True,
                    Verdict.PARTIAL,
                    "The attention half is missing; the MLP half runs.",
                    (),
                    (Effect(EffectKind.BEHAVIOUR, Phase.RUNTIME, "defer(mlp)", "srt/layers/halves.py", 80),),
                    (_gate(LAYER, 1071, "is_sm70()"),),
                )
                for sm in sms
            ),
        ),
        OptionReport(
            _option("strange", 46, flags=("--strange", "--odd"), type="str"),
            tuple(
                Judgement(sm, "*", Verdict.UNKNOWN, "not decided", unknown=("a registry filled at run time, srt/registry.py:9",))
                for sm in sms
            ),
        ),
        OptionReport(
            Option("env:SGLANG_FAST_MATH", type="bool", default=False, file="srt/environ.py", line=7),
            tuple(
                Judgement(sm, True, Verdict.NOOP, f"Nothing reads it on SM{sm}.", (90,), (), (_gate("srt/math.py", 3, "is_sm90()", 90),))
                for sm in sms
                if sm != 90
            ),
        ),
    ]
    return Report(
        Source("sglang==9.9.9", "release", "9.9.9", GitFacts("1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b", True, "main")),
        Assumptions("cuda", "12.9", {"tp_size": 4, "model_arch": "TwoLayerForCausalLM"}),
        sms,
        tuple(options),
        findings_of(options),
        (Diagnostic("srt/broken.py", 3, "could not be parsed: unexpected indent"),),
        Statistics(1204, 96, 3.25, "cold", Coverage(8, 6, 1, 42, 17, 2)),
        (
            NotFollowed(Reason.FUNCTION_STEPS, "Runner.prepare", "srt/model_runner.py", 40),
            NotFollowed(Reason.GUARD_OPAQUE, "sm_of(device) > limit()", LAYER, 12),
            NotFollowed(Reason.GUARD_OPAQUE, "sm_of(other) > limit()", LAYER, 15),
        ),
    )


HOSTILE = "\x1b[2J\x1b]0;owned\x07 a|b `c` <img src=x> [x](javascript:1) \u202e\u2066 {sms} %s\r\nnext\x9b31m \udc80"


def hostile_sample() -> Report:
    """A report from a tree whose names, literals, messages and paths are meant to do harm."""
    option = Option(HOSTILE, flags=(f"--{HOSTILE}",), type=HOSTILE, default=HOSTILE, choices=(HOSTILE,), file=HOSTILE, line=1)
    effect = Effect(EffectKind.ALLOCATES, Phase.STARTUP, HOSTILE, HOSTILE, 2, HOSTILE, HOSTILE, HOSTILE)
    gate = _gate(HOSTILE, 3, HOSTILE, 90)
    options = [
        OptionReport(
            option,
            tuple(
                Judgement(120, value, verdict, HOSTILE, (90,), (effect,), (gate,), (HOSTILE,))
                for value, verdict in ((HOSTILE, Verdict.NOOP_WITH_SIDE_EFFECTS), ("x", Verdict.UNKNOWN), ("y", Verdict.PARTIAL))
            ),
            ((120, (DefaultAlternative(HOSTILE, HOSTILE, HOSTILE, 4),)),),
        )
    ]
    left = NotFollowed(Reason.CALLERS_MANY, HOSTILE, HOSTILE, 6)
    source = Source(HOSTILE, "checkout", HOSTILE, GitFacts(HOSTILE, False, HOSTILE))
    assumptions = Assumptions(settings={HOSTILE: HOSTILE})

    diagnostics = (Diagnostic(HOSTILE, 5, HOSTILE),)
    return Report(source, assumptions, (120,), tuple(options), findings_of(options), diagnostics, not_followed=(left,))


def harmful(text: str) -> list[str]:
    """The characters of a text that steer a terminal, break a line or reorder what a reader sees."""
    return [character for character in text if character < " " or "\x7f" <= character < "\xa0" or character in "\u202e\u2066\udc80"]
