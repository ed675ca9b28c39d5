"""The models that the paper compares SGC with, behind one small interface; torch is imported when one is fitted."""

from sgclearn.baselines.interface import Baseline
from sgclearn.baselines.textgcn import TextGCN

__all__ = ["Baseline", "TextGCN"]
