"""TF-IDF of what users write: learned on some users, applied to all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.errors import InputError, Setting
from sgclearn.tables.messages import counted

# Words of two characters or more that are neither hashtags nor handles.
_TOKEN = r"(?u)(?<![#@\w])\w\w+\b"


@dataclass(frozen=True)
class WordSettings:
    """How texts become columns.

    Parameters
    ----------
    min_df, max_df : int or float, default 10 and 0.2
        Least and largest number of users with the word; a float is a share of the users.
    binary : bool, default True
        Whether a user has a word or not, instead of how often.
    stop_words : "english" or None, default "english"
        Scikit-learn's list.
    """

    min_df: int | float = 10
    max_df: int | float = 0.2
    binary: bool = True
    stop_words: str | None = "english"


@dataclass(frozen=True, eq=False)
class UserWords:
    """Words that count, and their inverse document frequencies.

    A row is `idf_j` for each word j that the user writes (times its count unless `binary`), divided by its Euclidean
    norm; `idf_j = log((1 + n) / (1 + df_j)) + 1`.

    Examples
    --------
    >>> words = UserWords.learn(["rainy zurich", "rainy bern", "sunny"], WordSettings(min_df=1, max_df=1.0))
    >>> words.vocabulary
    ('bern', 'rainy', 'sunny', 'zurich')
    >>> words.apply(["Sunny Bern, @zurich #rainy"]).toarray().round(2)
    array([[0.71, 0.  , 0.71, 0.  ]])
    """

    vocabulary: tuple[str, ...]
    idf: NDArray[np.float64]
    settings: WordSettings = field(default_factory=WordSettings)

    @classmethod
    def learn(cls, texts: Sequence[str], settings: WordSettings | None = None) -> UserWords:
        """Learn the words from the texts of some users, one text a user."""
        settings = settings or WordSettings()
        vectorizer = _vectorizer(settings, None)
        try:
            vectorizer.fit(texts)
        except ValueError as error:  # scikit-learn's: nothing left, or bounds that exclude each other
            raise InputError(
                f"texts must hold a word that at least {settings.min_df} and at most {settings.max_df} of the "
                "users write (whole numbers count users, fractions are shares)",
                f"{counted(len(texts), 'text')} without one",
                ("lower ", Setting("min_df"), ", raise ", Setting("max_df"), ", or fit without text"),
                argument="min_df",
            ) from error
        return cls(tuple(vectorizer.get_feature_names_out().tolist()), vectorizer.idf_, settings)

    def apply(self, texts: Sequence[str]) -> sp.csr_array:
        """TF-IDF rows (n, words) of any texts; one without a known word is a row of zeros."""
        vectorizer = _vectorizer(self.settings, list(self.vocabulary))
        vectorizer.idf_ = self.idf
        return sp.csr_array(vectorizer.transform(texts))

    def to_dict(self) -> dict[str, Any]:
        """For JSON; `from_dict` is the way back."""
        return {
            "vocabulary": list(self.vocabulary),
            "idf": self.idf.tolist(),
            "settings": asdict(self.settings),
        }

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> UserWords:
        """The words that `to_dict` described."""
        return cls(tuple(state["vocabulary"]), np.array(state["idf"]), WordSettings(**state["settings"]))


def _vectorizer(settings: WordSettings, vocabulary: list[str] | None) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(token_pattern=_TOKEN, vocabulary=vocabulary, **asdict(settings))
