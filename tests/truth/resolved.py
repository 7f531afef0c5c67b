"""What gatecheck says of resolution, asked for in this process: sites are left out, so that a context costs seconds.

The JSON is the one that ``gatecheck check`` prints for the same request; of its rows, only what resolution does is there.
"""

from __future__ import annotations

import json

from sm_gatecheck.report.json import report_document
from sm_gatecheck.target.devices import parse_sms
from sm_gatecheck.target.rules import load_devices
from sm_gatecheck.trees import open_tree
from sm_gatecheck.verdicts.analysis import resolve
from sm_gatecheck.verdicts.request import Request
from tests.truth import files
from tests.truth.command import ORACLE_MEMORY_MIB, ORACLE_SMS, tree_argument
from tests.truth.inventory import Inventory


def context_inventory(release: str, context: str) -> Inventory:
    """An inventory of resolution in a context of the oracle (``"llama|tp4"``): model, parallel size and memory given."""
    model, _, parallel = context.partition("|tp")
    request = Request(
        sms=parse_sms(ORACLE_SMS, load_devices()),
        settings={"tp_size": int(parallel)},
        model_config=json.loads((files.MODELS / model / "config.json").read_text("utf-8")),
        gpu_memory=ORACLE_MEMORY_MIB,
        use_cache=False,
    )
    return Inventory(json.loads(json.dumps(report_document(resolve(open_tree(tree_argument(release)), request)))))
