"""The cases, by their letter; each has a file of its own."""

from __future__ import annotations

from sgclearn.bench.cases.a_propagation import PROPAGATION
from sgclearn.bench.cases.b_fit import FIT
from sgclearn.bench.cases.c_tuning import TUNING
from sgclearn.bench.cases.case import Case
from sgclearn.bench.cases.d_inductive import INDUCTIVE
from sgclearn.bench.cases.e_growth import GROWTH
from sgclearn.bench.cases.f_cores import CORES
from sgclearn.bench.cases.g_limit import LIMIT
from sgclearn.bench.cases.h_small import SMALL

CASES: dict[str, Case] = {
    case.letter: case for case in (PROPAGATION, FIT, TUNING, INDUCTIVE, GROWTH, CORES, LIMIT, SMALL)
}
