"""The support matrix as one page that needs nothing else: no network, no font, no library.

Tables are plain HTML, so that the page is whole without scripts, in print and for a screen reader; the proofs stand in it once each,
as data, and ``script.js`` opens them and filters. What a tree says is text in every place, and the page's own policy runs no other
script than the one that it was made with.
"""

from sm_gatecheck.report.page.document import render

__all__ = ["render"]
