"""Releases that a launch names: in an image's tag, in an image file's name, in a requirement."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from sm_gatecheck.launch.located import Located, Word
from sm_gatecheck.launch.model import VersionMention
from sm_gatecheck.launch.rules import LaunchRules


def is_program_image(image: str, rules: LaunchRules) -> bool:
    """Whether an image, by the last part of its name, is one of the server."""
    name = image.rsplit("/", 1)[-1].split("@")[0].split(":")[0]
    return any(fnmatchcase(name, pattern) for pattern in rules.image_names)


def image_version(image: Located | None, rules: LaunchRules) -> VersionMention | None:
    """The release that an image's tag names, None where it names none (``latest``) or the image is another program's."""
    if image is None or not image.text:
        return None
    text = image.text
    if is_program_image(text, rules):
        last = text.rfind("/") + 1
        colon = text.find(":", last)
        end = text.find("@", last)
        if colon >= 0:
            tag = image.part(colon + 1, end if end > colon else None)
            match = rules.image_tag.fullmatch(tag.text)
            if match is not None and not tag.part(0, match.end("version")).unresolved:
                return _mention(tag.part(match.start("version"), match.end("version")), image, "image")
    match = rules.image_file.search(text)
    if match is None or image.part(*match.span("version")).unresolved:
        return None
    return _mention(image.part(*match.span("version")), image, "image")


def required_version(text: Located, rules: LaunchRules) -> VersionMention | None:
    """The release that a requirement in a text pins."""
    match = rules.requirement.search(text.text)
    if match is None or text.part(*match.span("version")).unresolved:
        return None
    return _mention(text.part(*match.span("version")), text.part(match.start(), match.end()), "requirement")


def versions_in(words: Iterable[Word], rules: LaunchRules) -> list[VersionMention]:
    """Every release that the words of a command name, image files and requirements alike."""
    found: list[VersionMention] = []
    for word in words:
        mention = required_version(word.value, rules)
        if mention is None and ("/" in word.text or ":" in word.text):
            mention = image_version(word.value, rules)
        if mention is not None:
            found.append(mention)
    return found


def _mention(version: Located, whole: Located, source: str) -> VersionMention | None:
    extent = version.extent
    if extent is None:
        return None
    return VersionMention(version.text, extent.span, whole.text, "image" if source == "image" else "requirement")
