"""The models that the paper compares SGC with, behind one small interface; torch is imported when one is fitted."""

from sgclearn.baselines.adalnet import AdaLNet
from sgclearn.baselines.attention import AGNN, GAT
from sgclearn.baselines.convolution import GCN, GLN, MLP
from sgclearn.baselines.deepwalk import DeepWalk
from sgclearn.baselines.dgi import DGI
from sgclearn.baselines.fastgcn import FastGCN
from sgclearn.baselines.gaan import GaAN
from sgclearn.baselines.gin import GIN
from sgclearn.baselines.interface import Baseline
from sgclearn.baselines.lanczos import LNet
from sgclearn.baselines.plain import LabelPropagation, LogisticRegression
from sgclearn.baselines.sage import GraphSAGE
from sgclearn.baselines.textgcn import TextGCN
from sgclearn.baselines.unsupervised import UnsupervisedSAGE

__all__ = [
    "AGNN",
    "DGI",
    "GAT",
    "GCN",
    "GIN",
    "GLN",
    "MLP",
    "AdaLNet",
    "Baseline",
    "DeepWalk",
    "FastGCN",
    "GaAN",
    "GraphSAGE",
    "LNet",
    "LabelPropagation",
    "LogisticRegression",
    "TextGCN",
    "UnsupervisedSAGE",
]
