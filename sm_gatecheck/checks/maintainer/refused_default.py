"""GC304: resolution chooses a default on some GPUs, and the next check refuses it there."""

from __future__ import annotations

from sm_gatecheck.checks.subject import Remark, Remarks, Subject
from sm_gatecheck.evaluate.frames import Event
from sm_gatecheck.evaluate.interpreter import source_text
from sm_gatecheck.evaluate.values import alternatives, is_constant, to_python
from sm_gatecheck.model.condition import Condition
from sm_gatecheck.model.wording import words
from sm_gatecheck.target.outcome import Write

RULE = "GC304"
CONDITION_ROOM = 200
REFUSALS = ("raise", "assert", "key_error")


def of_tree(subject: Subject) -> Remarks:
    """A remark for each refusal that a launch without options meets on some SMs only, because of what was chosen for it."""
    for event in subject.judge.baseline.events:
        if event.kind not in REFUSALS or not event.guards or event.caught:
            continue
        refused = subject.space.certain(event.condition)
        if refused.exists in (0, subject.space.all_bits) or not _is_decided(event, refused):
            continue
        write = _choice(subject, event, refused)
        if write is not None:
            yield _remark(subject, event, refused, write)


def _is_decided(event: Event, refused: Condition) -> bool:
    """Whether the check itself asks for the target, and can only fail on the SMs that it refuses."""
    asked = event.guards[-1].condition
    return asked.depends_on_target() and not refused.exists & ~asked.forall


def _choice(subject: Subject, event: Event, refused: Condition) -> Write | None:
    """What resolution wrote before into an option that the check, or a test on the way to it, asks for."""
    asked = "\n".join(source_text(guard.module, guard.node) for guard in event.guards)
    for write in reversed(subject.judge.baseline.writes):
        if write.field in subject.session.options.by_field and write.field in asked and not (write.condition & refused).is_false:
            return write
    return None


def _remark(subject: Subject, event: Event, refused: Condition, write: Write) -> Remark:
    on = refused.exists
    condition = words(refused.on(on))
    when = "" if condition is None else f" when {condition if len(condition) <= CONDITION_ROOM else condition[:CONDITION_ROOM] + ' …'}"
    chosen = {
        repr(to_python(payload))
        for held, payload in alternatives(write.value, subject.space.true)
        if is_constant(payload) and not (held & refused).is_false
    }
    value = f" the value {chosen.pop()}" if len(chosen) == 1 else " a value"
    line = getattr(event.node, "lineno", 1)
    message = (
        f"left alone, {write.field} is given{value} at {write.module.path}:{getattr(write.node, 'lineno', 1)}, "
        f"and this check refuses it on {subject.named(on)}{when}"
    )
    return Remark(event.module.path, line, message, on, (write.field, event.name), write.field)
