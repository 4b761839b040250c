"""Bag-of-words and n-gram classifiers, built on scikit-learn.

A thin wrapper around scikit-learn for documents that are already lists of words.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

KINDS = ("logistic regression", "naive bayes")

Document = Sequence[str]


class BagClassifier:
    """Linear classifier on n-gram counts, with one weight for each n-gram and class.

    Logistic regression reads tf-idf vectors of length 1; multinomial naive Bayes reads whether an
    n-gram occurs at all, which works better for sentiment than the number of times.

    Args:
        kind: "logistic regression" or "naive bayes".
        ngrams: length of the longest n-gram in words; 1 counts words, 2 words and bigrams.
        minimum_documents: n-grams in fewer training documents than this are ignored.
        regularisation: logistic regression: the factor of the squared norm of the weights (1 / C);
            naive Bayes: the pseudo-count of every n-gram.

    Raises:
        ValueError: an argument is out of range.

    Source: Wang and Manning (2012), "Baselines and Bigrams", for both classifiers.
    """

    def __init__(
        self, kind: str, ngrams: int = 1, minimum_documents: int = 1, regularisation: float = 1.0
    ) -> None:
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(map(repr, KINDS))}, not {kind!r}.")
        if ngrams < 1 or minimum_documents < 1 or regularisation <= 0:
            raise ValueError(
                "ngrams and minimum_documents must be at least 1, regularisation more than 0."
            )
        self.kind = kind
        self.ngrams = ngrams
        self.minimum_documents = minimum_documents
        self.regularisation = regularisation
        self._counter: Any = None
        self._model: Any = None

    def fit(self, documents: Sequence[Document], labels: Sequence[Hashable]) -> BagClassifier:
        """Count and weigh the n-grams of the training documents.

        Args:
            documents: lists of words; a document may be empty.
            labels: the class of each, numbers or names.

        Returns:
            the classifier itself.

        Raises:
            ValueError: the lengths differ, there are fewer than two classes, or no n-gram is left
                to count.
            TypeError: a document is a string.
        """
        # Imported here, so that importing this module does not wait for scikit-learn.
        from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.naive_bayes import MultinomialNB

        if len(documents) != len(labels):
            raise ValueError(f"There are {len(documents)} documents but {len(labels)} labels.")
        if len(set(labels)) < 2:
            raise ValueError("A classifier needs documents of at least two classes.")
        made: dict[str, Any] = {"analyzer": self._parts, "min_df": self.minimum_documents}
        if self.kind == "logistic regression":
            counter = TfidfVectorizer(sublinear_tf=True, **made)
            model = LogisticRegression(C=1 / self.regularisation, max_iter=2000)
        else:
            counter = CountVectorizer(binary=True, **made)
            model = MultinomialNB(alpha=self.regularisation)
        try:
            counts = counter.fit_transform(documents)  # (documents, n-grams)
        except ValueError as error:
            raise ValueError(
                "No n-gram is left to count: the documents are empty, or minimum_documents is "
                "too large."
            ) from error
        self._counter, self._model = counter, model.fit(counts, np.asarray(labels))
        return self

    def predict(self, documents: Sequence[Document]) -> list[Any]:
        """Return the most likely class of each document.

        A document without any known n-gram gets the class favoured by the intercepts or by the
        class frequencies.
        """
        if not len(documents):
            return []
        return self._require_fit().predict(self._counter.transform(documents)).tolist()

    def accuracy(self, documents: Sequence[Document], labels: Sequence[Hashable]) -> float:
        """Return the share of documents, 0 to 1, that are classified correctly.

        Raises:
            ValueError: the lengths differ, or there is no document.
        """
        if len(documents) != len(labels) or not len(labels):
            raise ValueError(
                f"accuracy needs as many labels as documents, at least one; "
                f"there are {len(documents)} documents and {len(labels)} labels."
            )
        predicted = self.predict(documents)
        return sum(a == b for a, b in zip(predicted, labels, strict=True)) / len(predicted)

    def weight(self, ngram: str, label: Hashable) -> float:
        """Return the weight of an n-gram as evidence for a class, the same in every document.

        Logistic regression: its coefficient. Naive Bayes: log p(n-gram | class), minus its mean
        over the other classes.

        Args:
            ngram: words joined by spaces.
            label: one of the classes.

        Raises:
            KeyError: the n-gram or the class did not occur in training.
        """
        classes = list(self._require_fit().classes_)
        if ngram not in self._counter.vocabulary_ or label not in classes:
            raise KeyError(f"{ngram!r} or the class {label!r} did not occur in training.")
        column, row = self._counter.vocabulary_[ngram], classes.index(label)
        if self.kind == "naive bayes":
            table = self._model.feature_log_prob_[:, column]  # (classes,)
            return float(table[row] - np.delete(table, row).mean())
        table = self._model.coef_[:, column]  # (classes,), or (1,) for two classes
        if len(classes) == 2:
            return float(table[0] if row == 1 else -table[0])
        return float(table[row])

    @property
    def parameters(self) -> int:
        """Number of fitted parameters: those of the n-grams, and one per class or boundary."""
        model = self._require_fit()
        if self.kind == "naive bayes":
            return model.feature_log_prob_.size + model.class_log_prior_.size
        return model.coef_.size + model.intercept_.size

    def _require_fit(self) -> Any:
        if self._model is None:
            raise ValueError("the classifier has not been fitted yet: call fit first.")
        return self._model

    def _parts(self, document: Document) -> list[str]:
        if isinstance(document, str):
            raise TypeError("A document is a list of words; split the text first.")
        words = list(document)
        return [
            " ".join(words[i : i + n])
            for n in range(1, self.ngrams + 1)
            for i in range(len(words) - n + 1)
        ]


def bag_classifier(
    kind: str, ngrams: int = 1, minimum_documents: int = 1, regularisation: float = 1.0
) -> BagClassifier:
    """Return an untrained classifier on bags of n-grams; see `BagClassifier`."""
    return BagClassifier(kind, ngrams, minimum_documents, regularisation)
