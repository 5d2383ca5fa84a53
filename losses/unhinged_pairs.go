package losses

// The pair losses without a hinge are those in the theory of Le & Odobez (000): a noisy pair label only scales and
// shifts their risk, so the minimum under noise is the same. Use them to study this result, not to train: without a
// hinge, every negative is pushed away, however far it is. Both are the mean over all ordered pairs ([distancePairs]).
// d_max is the largest distance of unit vectors, 2.

// unhinged_marginal:
//
//	l(t) = d_max + (d_ij - β) t + α,  l(-t) = 2 d_max + 2α - l(t)
//
// β and α only shift the value. Settings: margin α ≥ 0, β ∈ [0, 4], d_max ≥ 0.
// Source: 000, Eq. 31; METHODS 4.3. (Eq. 35 prints the constant of Eq. 32 as 2 (d_max + 2α).)
var unhingedMarginalEntry = Entry{
	Name:     "unhinged_marginal",
	Title:    "Unhinged marginal loss",
	Paper:    "Le & Odobez (000)",
	Equation: "Eq. 31",
	Formula:  "mean_{(i,j)} d_max + (d_ij - β) t_ij + α",
	Against:  Both,
	Settings: []Setting{
		{Name: "margin", Symbol: "α", Default: 0.2, Min: 0, Max: 2,
			Doc: "added to every term; changes the value, not the gradient"},
		{Name: "beta", Symbol: "β", Default: 1.4, Min: 0, Max: 4,
			Doc: "threshold of the distance; changes the value, not the gradient"},
		largestDistance,
	},
	New: func(v Values, env Env) (Loss, error) {
		alpha, beta, top := v.Number("margin"), v.Number("beta"), v.Number("d_max")
		fn := &distancePairs{pos: line{top + alpha - beta, 1}, neg: line{top + alpha + beta, -1}}
		return &similarity{chain{fn: fn, exact: true}}, nil
	},
}

// auxiliary_pair:
//
//	l(+1) = w⁺ d_ij,  l(-1) = w⁻ (d_max - d_ij);  unweighted l(-t) = d_max - l(t)
//
// The sum is divided by the number of pairs, not by the sum of the weights. 000 uses w⁺ = 1 and w⁻ = 1/K for K classes
// (w_neg below 0). That is about the ratio of positive to negative pairs, which is exactly (s-1)/((K-1)s) for s images
// per class.
// Settings: w⁺, w⁻, d_max ≥ 0.
// Source: 000, Eq. 9, weighted Definition 2 and Eq. 14-15; METHODS 4.3, 000-3.
var auxiliaryPairEntry = Entry{
	Name:     "auxiliary_pair",
	Title:    "Auxiliary pair loss",
	Paper:    "Le & Odobez (000)",
	Equation: "Eq. 9, weighted Eq. 14-15",
	Formula:  "mean_{(i,j)} w⁺ d_ij for positives, w⁻ (d_max - d_ij) for negatives",
	Against:  Both,
	Settings: []Setting{
		{Name: "w_pos", Symbol: "w⁺", Default: 1.0, Min: 0, Max: 1e3, Doc: "weight of a positive pair"},
		{Name: "w_neg", Symbol: "w⁻", Default: 1.0, Min: -1, Max: 1e3,
			Doc: "weight of a negative pair; below 0: 1/K for K classes, as in the paper"},
		largestDistance,
	},
	New: func(v Values, env Env) (Loss, error) {
		pos, neg := v.Number("w_pos"), v.Number("w_neg")
		if neg < 0 {
			neg = 1 / float64(env.Classes)
		}
		fn := &distancePairs{pos: line{0, pos}, neg: line{neg * v.Number("d_max"), -neg}}
		return &similarity{chain{fn: fn, exact: true}}, nil
	},
}

var largestDistance = Setting{Name: "d_max", Default: 2.0, Min: 0, Max: 1e3,
	Doc: "the largest distance, added to keep the loss above 0"}
