package main

import (
	"cmp"
	"context"
	"log"
	"math"
	"path/filepath"
	"slices"
	"time"

	"winnow/audit/judges"
	"winnow/eval"
	"winnow/features"
	"winnow/train"
)

// cell asks the judges that have not been asked about these labels.
func (b *bench) cell(ctx context.Context, s *opened, n noise, seed int) error {
	var wanted []string
	for _, name := range b.judges {
		key := row{Set: s.name, Noise: n.String(), Seed: seed, Judge: name}.key()
		if !slices.ContainsFunc(b.rows, func(r row) bool { return r.key() == key }) {
			wanted = append(wanted, name)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	z, truth, err := b.corrupt(ctx, s, n, seed)
	if err != nil {
		return err
	}
	last := time.Now()
	opts := judges.Options{Rand: train.Rand(uint64(seed), "judges", 0)}
	return judges.Each(ctx, z, len(s.classes), wanted, opts, func(j judges.Judge, v judges.Verdict) error {
		values, err := measure(z, truth, j, v)
		if err != nil {
			return err
		}
		values["classes"], values["seconds"] = float64(len(s.classes)), time.Since(last).Seconds()
		r := row{s.name, n.String(), seed, j.Name, values}
		log.Printf("%s: AUROC %.4f, AP %.4f, found %.3f, %.1f s", r.key(), values["auroc"], values["ap"], values["found"], values["seconds"])
		b.rows = append(b.rows, r)
		err = appendRow(filepath.Join(b.here, resultsFile), r)
		last = time.Now()
		return err
	})
}

// measure compares a verdict with the truth. Rows that are alone with their label are not judged and left out.
func measure(z features.Set, truth []int, j judges.Judge, v judges.Verdict) (map[string]float64, error) {
	var order, score []float64
	var wrong, mended []bool
	for i, y := range z.Labels {
		if math.IsInf(v.Order[i], 1) {
			continue
		}
		order, score = append(order, v.Order[i]), append(score, v.Score[i])
		wrong, mended = append(wrong, truth[i] != y), append(mended, truth[i] != y && v.Suggested[i] == truth[i])
	}
	d, err := eval.Detect(order, wrong, eval.KeepShare(order, rate(wrong)))
	if err != nil {
		return nil, err
	}
	values := map[string]float64{
		"images": float64(len(order)), "wrong": rate(wrong), "auroc": d.AUROC, "ap": d.AP, "found": d.Precision,
		"mended": rate(mended) / rate(wrong),
	}
	if j.Probability {
		reliability(values, order, score, wrong)
	}
	return values, nil
}

func rate(of []bool) float64 {
	n := 0.0
	for _, v := range of {
		if v {
			n++
		}
	}
	return n / float64(len(of))
}

// reliability compares probabilities with what came true.
func reliability(values map[string]float64, order, score []float64, wrong []bool) {
	at := make([]int, len(order))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(order[a], order[b]) })
	const aim = 0.9
	var expected, bad, chosen, right float64
	for k, i := range at {
		if expected += 1 - score[i]; wrong[i] {
			bad++
		}
		if expected >= aim*float64(k+1) {
			chosen, right = float64(k+1), bad
		}
	}
	n := float64(len(order))
	values["expected"], values["chosen"] = expected/n, chosen/n
	if chosen > 0 {
		values["precision"] = right / chosen
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(score[a], score[b]) })
	const bins = 10
	var off float64
	for k := range bins {
		part := at[k*len(at)/bins : (k+1)*len(at)/bins]
		var sum float64
		for _, i := range part {
			if sum += score[i]; !wrong[i] {
				sum--
			}
		}
		off += math.Abs(sum) / n
	}
	values["error"] = off
}
