package audit

import (
	"context"
	"math"
	"slices"

	"winnow/audit/judges"
	"winnow/eval"
	"winnow/features"
	"winnow/filters"
	"winnow/filters/leaveout"
)

// candidates is the number of classes, the nearest by mean similarity, that are tried as suggestions.
const candidates = 3

// byBank scores every given label of z with a filter's scorer. All rows of z are labelled, and z itself is the memory
// bank, without the row being scored. To suggest a label, byBank also scores the row with each candidate label: the
// classes nearest by mean similarity. Here, the row is left out of the class of its given label. Classes are numbered 0
// … classes-1. voice holds for each row the row that represents it; the bank contains only rows that represent
// themselves. Time O(n²·d), memory maxMem.
func byBank(ctx context.Context, scorer filters.Scorer, z features.Set, voice []int, classes int,
	maxMem int64) (o judges.Opinion, err error) {
	heard, mute := z, []int(nil)
	if voice != nil {
		var rows []int
		for i, v := range voice {
			switch v {
			case i:
				rows = append(rows, i)
			case leaveout.Mute:
				mute = append(mute, i)
			}
		}
		heard = z.Rows(rows)
	}
	bank := features.BankOf(heard, classes)
	judge := judgeBy(scorer)
	if o.Order, err = judge.judgeAllBlocks(ctx, z, bank, true); err != nil {
		return o, err
	}
	if len(mute) > 0 { // mute rows are not in the bank
		orders, err := judge.judgeAllBlocks(ctx, z.Rows(mute), bank, false)
		if err != nil {
			return o, err
		}
		for at, i := range mute {
			o.Order[i] = orders[at]
		}
	}
	o.Score = make([]float64, z.Len())
	for i, order := range o.Order {
		o.Score[i] = judge.score(order)
	}
	return o, setSuggestions(ctx, judge, z, bank, &o, maxMem)
}

// judge wraps a scorer; if the scores are probabilities, it ranks by their log-odds.
type judge struct {
	order func(dst []float64, z features.Set, ref *features.Bank, own bool) []float64
	score func(order float64) float64

	probability bool // order is log(P/(1-P)), where P sums to 1 over the classes
}

func judgeBy(scorer filters.Scorer) judge {
	if r, ok := scorer.(filters.Ranker); ok {
		return judge{order: r.LogOdds, score: func(l float64) float64 { return 1 / (1 + math.Exp(-l)) },
			probability: true}
	}
	return judge{order: scorer.Score, score: func(s float64) float64 { return s }}
}

// judgeAllBlocks scores z block by block, to avoid a rows×classes matrix of the whole set.
func (j judge) judgeAllBlocks(ctx context.Context, z features.Set, bank *features.Bank, own bool) ([]float64, error) {
	const block = 1024
	scores := make([]float64, 0, z.Len())
	var part []float64
	for from := 0; from < z.Len(); from += block {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		to := min(from+block, z.Len())
		rows := features.Set{Labels: z.Labels[from:to], X: z.X}
		rows.X.Rows, rows.X.Data = to-from, z.X.Data[from*z.X.Stride:to*z.X.Stride]
		if z.IDs != nil {
			rows.IDs = z.IDs[from:to]
		}
		part = j.order(part, rows, bank, own)
		scores = append(scores, part...)
	}
	return scores, nil
}

// setSuggestions sets each suggestion to the best-scoring class among the candidates and the given class.
func setSuggestions(ctx context.Context, judge judge, z features.Set, bank *features.Bank, o *judges.Opinion,
	maxMem int64) error {
	best := slices.Clone(o.Order)
	o.Suggested, o.SuggestedScore = slices.Clone(z.Labels), slices.Clone(o.Score)
	near, err := nearestClasses(ctx, z, bank, maxMem)
	if err != nil {
		return err
	}
	var with []float64 // orders of the given labels, where each row is in its own class
	if judge.probability {
		if with, err = judge.judgeAllBlocks(ctx, z, bank, false); err != nil {
			return err
		}
	}
	other := features.Set{X: z.X, IDs: z.IDs, Labels: make([]int, z.Len())}
	for c := range candidates {
		for i := range other.Labels {
			other.Labels[i] = z.Labels[i] // too few candidates: score the given label again
			if c < len(near[i]) {
				other.Labels[i] = near[i][c].Row
			}
		}
		orders, err := judge.judgeAllBlocks(ctx, other, bank, false)
		if err != nil {
			return err
		}
		for i, order := range orders {
			if with != nil {
				order = withoutRow(order, with[i], o.Order[i])
			}
			if other.Labels[i] != z.Labels[i] && order > best[i] {
				o.Suggested[i], o.SuggestedScore[i], best[i] = other.Labels[i], judge.score(order), order
			}
		}
	}
	return nil
}

// withoutRow returns the log-odds of another class c after the row is removed from its given class y, where its own
// vector would support y against c. other is the log-odds of c and with is the log-odds of y, both with the row in y;
// without is the log-odds of y without the row. With P_k = e^{l_k}/Σ e^{l} and s(x) = log(1+e^x),
//
//	log P_c = -s(-other) + s(with) - s(without)
//
// since l_c does not depend on the row and s = log Σ e^l - log Σ_{k≠y} e^l. Log-odds are capped at 36, where P rounds
// to 1. Classes that are too small for a concentration of their own stay pooled as they were.
func withoutRow(other, with, without float64) float64 {
	if math.IsInf(with, 0) || math.IsInf(without, 0) {
		return other // y is unknown without the row
	}
	logP := softplus(with) - softplus(without) - softplus(-other)
	const most = 36
	if logP >= 0 {
		return most
	}
	return min(most, logP-math.Log(-math.Expm1(logP)))
}

// softplus returns log(1+e^x).
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// nearestClasses returns for every row the nearest classes other than the given one, by mean similarity.
func nearestClasses(ctx context.Context, z features.Set, bank *features.Bank,
	maxMem int64) ([][]eval.Neighbour, error) {
	out := make([][]eval.Neighbour, z.Len())
	err := eval.EachRow(ctx, z.X, bank.Centres(), eval.Bytes(maxMem), func(i int, s []float32) {
		best := make([]eval.Neighbour, 0, candidates)
		for k, v := range s {
			if k != z.Labels[i] && bank.Count(k) > 0 {
				best = eval.Insert(best, eval.Neighbour{Row: k, Similarity: v})
			}
		}
		out[i] = best
	})
	return out, err
}
