package eval

import (
	"context"
)

const (
	countLonelyDoc = "count a query without any positive as a miss (otherwise leave it out)"
	countUnseenDoc = "count an image of a class without fitted images as wrong (otherwise leave it out)"
)

var retrievalEntry = Entry{
	Name: "retrieval", Title: "Recall@K, P@1, R-Precision, MAP@R", Command: "eval",
	Paper: "Musgrave et al. 2020 (A Metric Learning Reality Check)",
	Formula: "gallery ranked by cosine, ties by lower index, the query itself left out; R = its positives\n" +
		"Recall@K = 1 if one of the first K is a positive; P@1 = Recall@1\n" +
		"R-Precision = (positives among the first R)/R\n" +
		"MAP@R = 1/R · Σ_{k≤R} rel_k · (positives among the first k)/k\n" +
		"means over all queries",
	Numbers: []Number{
		{"precision_at_1", "P@1", "the nearest image has the query's label"},
		{"recall", "R@K", "one of the K nearest has the query's label"},
		{"r_precision", "R-Prec", "share of the R nearest with the query's label, R = number of positives"},
		{"map_at_r", "MAP@R", "R-Precision that takes the order into account"},
	},
	Settings: []Setting{
		{Name: "k", Default: []int{1, 2, 4, 8, 16, 32}, Doc: "the K of Recall@K"},
		{Name: "count_lonely", Default: false, Doc: countLonelyDoc},
		{Name: "queries", Default: 0, Min: 0, Max: 1e9, Doc: "number of query images, drawn by the seed; 0: all"},
	},
	Cost: "n queries × m images × d numbers",
	Measure: func(ctx context.Context, in Input, v Values) (Result, error) {
		gallery := in.Gallery
		if gallery != nil {
			gallery = new(keepLabelled(*gallery))
		}
		return Retrieve(ctx, keepLabelled(in.Test), gallery, RetrievalOptions{K: v.Counts("k"), MaxMem: in.MaxMem,
			CountLonely: v.Flag("count_lonely"), Queries: v.Count("queries"), Seed: in.Seed, Same: in.Same})
	},
}

var clusteringEntry = Entry{
	Name: "clustering", Title: "NMI, AMI, ARI, F1 of k-means", Command: "eval", Costly: true, Draws: true,
	Paper:    "Vinh et al. 2010; Hubert & Arabie 1985; Le & Odobez (000); BSPML (002)",
	Equation: "NMI as in 002, geometric as in 000; AMI Eq. 24 of Vinh et al.; ARI of Hubert & Arabie",
	Formula: "k-means++ with as many clusters as classes; I, H of the table n_ij of classes and clusters\n" +
		"NMI = 2I/(H(a) + H(b)); geometric: I/√(H(a)·H(b))\n" +
		"AMI = (I - E[I])/((H(a) + H(b))/2 - E[I])\n" +
		"ARI = (T - E[T])/(max T - E[T]), T = Σ C(n_ij, 2)\n" +
		"F1 = 2PR/(P + R), P = T/Σ_j C(b_j, 2), R = T/Σ_i C(a_i, 2)",
	Numbers: []Number{
		{"nmi_arithmetic", "NMI", "mutual information of clusters and classes, divided by their mean entropy"},
		{"nmi_geometric", "NMI geo", "the same, divided by the geometric mean"},
		{"ami", "AMI", "NMI adjusted for chance: 0 for random clusters"},
		{"ari", "ARI", "share of pairs that agree, adjusted for chance"},
		{"f1", "F1", "harmonic mean of pair P and pair R"},
		{"pair_precision", "pair P", "share of the pairs in a cluster that have the same class"},
		{"pair_recall", "pair R", "share of the pairs in a class that have the same cluster"},
	},
	Settings: []Setting{
		{Name: "clusters", Default: 0, Max: 1e6, Doc: "number of clusters (0: number of classes)"},
		{Name: "starts", Default: 5, Min: 1, Max: 1000,
			Doc: "starts of k-means, of which the one with the least inertia is used"},
		{Name: "iterations", Default: 100, Min: 1, Max: 1e6, Doc: "limit of iterations per start"},
	},
	Cost: "starts × iterations × n images × k clusters × d numbers",
	Measure: func(ctx context.Context, in Input, v Values) (Result, error) {
		return Cluster(ctx, in.Test, v.Count("clusters"), KMeansOptions{
			Starts: v.Count("starts"), Iterations: v.Count("iterations"), Seed: in.Seed, MaxMem: in.MaxMem,
		})
	},
}

var classMeanEntry = Entry{
	Name: "nearest-class-mean", Title: "Accuracy of the nearest class mean", Command: "eval", Train: true,
	Paper: "Adapted triplet (003)", Equation: "Eq. 21",
	Formula:  "ŷ(x) = argmin_y |z(x) - mean of z over the fitted images of class y|², means not normalised again",
	Numbers:  []Number{{"accuracy", "top-1", "share of images whose class has the nearest mean"}},
	Settings: []Setting{{Name: "count_unseen", Default: false, Doc: countUnseenDoc}},
	Cost:     "n images × C classes × d numbers",
	Measure: func(ctx context.Context, in Input, v Values) (Result, error) {
		return NearestClassMean(ctx, *in.Train, in.Test, ClassifierOptions{v.Flag("count_unseen"), in.MaxMem})
	},
}

var probeEntry = Entry{
	Name: "linear-probe", Title: "Top-1 of a linear probe", Command: "eval", Costly: true, Train: true,
	Paper: "SCL-RHE (004)", Equation: "section 6.1, unnumbered",
	Formula: "softmax regression on the unit embeddings: min over W, b of\n" +
		"mean of -log softmax(W·z + b)[y] + l2/2·|W|², solved by L-BFGS",
	Numbers: []Number{{"accuracy", "top-1", "share of images whose class has the greatest logit"},
		{"fit_accuracy", "fitted", "the same on the fitted images"}},
	Settings: []Setting{
		{Name: "l2", Default: 1e-5, Max: 1e6,
			Doc: "penalty of the weights for unit embeddings (smaller: fits clean labels better; larger: tolerates " +
				"wrong labels)"},
		{Name: "iterations", Default: 1000, Min: 1, Max: 1e6, Doc: "limit of L-BFGS steps"},
		{Name: "tolerance", Default: 1e-3, Min: 1e-9, Max: 1,
			Doc: "stop when the largest gradient entry falls below this share of its value at W = 0"},
		{Name: "count_unseen", Default: false, Doc: countUnseenDoc},
	},
	Cost: "steps × n images × C classes × d numbers, twice",
	Measure: func(ctx context.Context, in Input, v Values) (Result, error) {
		return LinearProbe(ctx, *in.Train, in.Test, ProbeOptions{
			ClassifierOptions: ClassifierOptions{v.Flag("count_unseen"), in.MaxMem},
			L2:                v.Number("l2"), Iterations: v.Count("iterations"), Tolerance: v.Number("tolerance"),
		})
	},
}

var detectionEntry = Entry{
	Name: "noise-detection", Title: "AUROC, AP, precision, recall, filter accuracy", Command: "audit", Truth: true,
	Paper: "PRISM (001)", Equation: "Fig. 2, unnumbered",
	Formula: "positive: the given label is wrong; score: 1 - P(clean); removed: the flagged labels\n" +
		"AUROC: over pairs of a wrong and a right label, ties count ½; AP = Σ (R_t - R_{t-1})·P_t over thresholds\n" +
		"precision = share of wrong among removed, recall = share of removed among wrong, F1 = their harmonic mean\n" +
		"filter accuracy = share of right among kept; smoothed over steps: e_t = 0.7·e_{t-1} + 0.3·x_t\n" +
		"left out: duplicates whose true labels contradict each other",
	Numbers: []Number{
		{"auroc", "AUROC", "probability that a wrong label scores below a right label"},
		{"ap", "AP", "mean precision going down the list of suspects"},
		{"precision", "precision", "share of wrong labels among the removed"},
		{"recall", "recall", "share of the wrong labels that are removed"},
		{"f1", "F1", "harmonic mean of precision and recall"},
		{"filter_accuracy", "kept right", "share of right labels among the kept"},
		{"keep_recall", "right kept", "share of the right labels that are kept"},
		{"recall_at_1_percent", "R@1 %", "share of the wrong labels that are among the most suspect 1 %"},
		{"recall_at_5_percent", "R@5 %", "share of the wrong labels that are among the most suspect 5 %"},
		{"recall_at_wrong", "R@wrong", "share of the wrong labels among the N most suspect, N = number wrong"},
	},
	Cost: "the filter's cost plus one sort",
}
