"""Speed, measured: the cases of the benchmark, the peers they are measured against, and the tables they write.

`sgc bench` runs it. Every contender has a process of its own and they take turns; see `rounds`.
"""

from __future__ import annotations

from sgclearn.bench.cases import CASES
from sgclearn.bench.running import BenchSettings, run_cases

__all__ = ["CASES", "BenchSettings", "run_cases"]
