"""Rank the labels of a list by cleanlab on the vectors of a winnow feature store.

    python3 beside_cleanlab.py NAME LIST STORE SUSPECTS [WAY ...]

LIST is a CSV file with path, label, split and true_label; its split "train" is judged. STORE is a folder that winnow
extract wrote. Prints CSV: for each way to rank, the wrong labels among the first 100 and the average precision. SUSPECTS,
the list that winnow audit wrote, is measured as well. WAY names how probabilities are made: lr, scaled, lda, near; by default all. PYTHONPATH names a copy of github.com/cleanlab/cleanlab.
"""
import csv
import sys
import time
import warnings

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cleanlab.filter import find_label_issues
from cleanlab.rank import get_label_quality_scores

FIRST, FOLDS, SEED, NEAREST = 100, 5, 1, 10


def read(listing, store):
    """Return the judged paths, vectors, labels and whether each is wrong."""
    row = {path.rstrip("\n"): i for i, path in enumerate(open(f"{store}/paths.txt"))}
    kept = [r for r in csv.DictReader(open(listing)) if r["split"] == "train"]
    names = {name: i for i, name in enumerate(sorted({r["label"] for r in kept}))}
    x = np.load(f"{store}/features.npy", mmap_mode="r")[[row[r["path"]] for r in kept]].astype(np.float32)
    return ([r["path"] for r in kept], x, np.array([names[r["label"]] for r in kept]),
            np.array([r["label"] != r["true_label"] for r in kept]))


def measure(name, way, wrong, score, seconds, order=()):
    """Print a line. score is low where a label looks wrong; order lists what a user looks at first."""
    seen = list(dict.fromkeys([*order, *np.argsort(score, kind="stable")]))[:FIRST]
    print(f"{name},\"{way}\",{len(wrong)},{wrong.sum()},{wrong[seen].sum()},{average_precision_score(wrong, -score):.4f},"
          f"{seconds:.1f}", flush=True)


def neighbours(x, labels):
    """Return class probabilities from the nearest other vectors, as Datalab makes them from features alone."""
    near = NearestNeighbors(n_neighbors=NEAREST).fit(x).kneighbors(return_distance=False)
    probs = np.zeros((len(x), labels.max() + 1))
    for column in near.T:
        probs[np.arange(len(x)), labels[column]] += 1 / NEAREST
    return probs


def main(name, listing, store, suspects, *ways):
    paths, x, labels, wrong = read(listing, store)
    judged = {r["path"]: float(r["score"]) for r in csv.DictReader(open(suspects))}
    measure(name, "winnow audit", wrong, np.array([judged[p] for p in paths]), float("nan"))

    def by_folds(model):
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
        return cross_val_predict(model, x, labels, cv=folds, method="predict_proba")

    predictors = {
        "near": ("10 nearest neighbours", lambda: neighbours(x, labels)),
        "scaled": ("logistic regression, standardised, C 0.01", lambda: by_folds(
            make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=200)))),
        "lda": ("linear discriminants, shrunk", lambda: by_folds(
            LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"))),
        "lr": ("logistic regression", lambda: by_folds(LogisticRegression(max_iter=200))),
    }
    for way, predict in (predictors[w] for w in ways or predictors):
        start = time.time()
        probs = predict()
        spent = time.time() - start
        print(f"# {name}, {way}: agrees with {(probs.argmax(1) == labels).mean():.3f} of the given labels", flush=True)
        for method in ("self_confidence", "normalized_margin"):
            start = time.time()
            order = find_label_issues(labels, probs, return_indices_ranked_by=method)
            score = get_label_quality_scores(labels, probs, method=method)
            measure(name, f"{way}; {method}", wrong, score, spent + time.time() - start, order)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    main(*sys.argv[1:])
