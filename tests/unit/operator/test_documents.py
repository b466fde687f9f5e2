"""The documents and the code say the same: reasons and metrics."""

import re
from pathlib import Path

from prometheus_client import REGISTRY

from memwarden_operator import metrics
from memwarden_operator.reasons import Reason

DOCUMENT = (Path(__file__).parents[3] / "docs/conditions.md").read_text()
ROWS = re.findall(r"^\| `([A-Za-z_]+)(?:\{[a-z,]+\})?` \|", DOCUMENT, re.MULTILINE)


def test_every_reason_is_described_and_none_that_is_not_given():
    conditions = {"Accepted", "InForce", "Ready", "Reconciling", "Stalled"}
    described = {row for row in ROWS if not row.startswith("memwarden_")}
    assert described - conditions | {"Accepted", "InForce"} == set(Reason)


def test_every_metric_is_described_and_none_that_is_not_there():
    described = {row.removesuffix("_total").removesuffix("_info") for row in ROWS if row.startswith("memwarden_")}
    found = {family.name for family in REGISTRY.collect() if family.name.startswith(metrics.PREFIX)}
    assert described == found | {f"{metrics.PREFIX}_objects"}


def test_every_label_is_there_at_zero_from_the_start():
    metrics.set_up()
    for family in (metrics.RECONCILES, metrics.OFFERS, metrics.STATUS_WRITES, metrics.DRIFT_MENDED, metrics.SWEEPS):
        assert [sample for each in family.collect() for sample in each.samples]
