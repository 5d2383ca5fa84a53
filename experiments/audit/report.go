package main

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"winnow/audit/judges"
	"winnow/internal/atomicfile"
)

// report writes tables.md: for each measure a line for each set and noise, a column for each judge, the mean ± standard
// deviation over the seeds that all of them have; the best in bold, with all that are not apart from it.
func (b *bench) report() error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "Made by `go run ./experiments/audit -report` from results.csv and findings.csv. Mean ± standard deviation over seeds, in percent.\n"+
		"Bold: the best of a line, and what is within half a point of it or within the standard error of their difference, seed by seed.\n")
	for _, m := range []struct{ measure, title string }{
		{"auroc", "AUROC"}, {"ap", "Average precision"}, {"found", "Precision, recall and F1 at the true number of wrong labels"},
		{"mended", "Wrong labels whose suggestion is the true one"},
	} {
		b.writeMeasure(&out, m.measure, m.title)
	}
	b.writeDefault(&out)
	b.writeReliability(&out)
	b.writeSeconds(&out)
	if err := b.writeFindings(&out); err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(b.here, "tables.md"), out.Bytes())
}

// places lists the sets and noises in the order of their description.
func (b *bench) places() (list [][2]string) {
	for _, d := range described {
		for _, n := range d.noises {
			if slices.ContainsFunc(b.rows, func(r row) bool { return r.Set == d.name && r.Noise == n.String() }) {
				list = append(list, [2]string{d.name, n.String()})
			}
		}
	}
	return list
}

// values returns a judge's values in a place by seed.
func (b *bench) values(place [2]string, judge, measure string) map[int]float64 {
	list := map[int]float64{}
	for _, r := range b.rows {
		if v, ok := r.Values[measure]; ok && r.Set == place[0] && r.Noise == place[1] && r.Judge == judge {
			list[r.Seed] = v
		}
	}
	return list
}

// asked returns the judges of the results, in the catalog's order.
func (b *bench) asked() (names []string) {
	for _, name := range judges.Names() {
		if slices.ContainsFunc(b.rows, func(r row) bool { return r.Judge == name }) {
			names = append(names, name)
		}
	}
	return names
}

func (b *bench) writeMeasure(out *bytes.Buffer, measure, title string) {
	names := b.asked()
	fmt.Fprintf(out, "\n## %s\n\n| set | noise | seeds | %s |\n|---|---|---:|%s\n", title, strings.Join(names, " | "), strings.Repeat("---:|", len(names)))
	for _, p := range b.places() {
		best, top := "", math.Inf(-1)
		for _, name := range names {
			if v := mean(b.values(p, name, measure)); v > top {
				best, top = name, v
			}
		}
		line := ""
		for _, name := range names {
			v := b.values(p, name, measure)
			text := percent(v)
			if len(v) > 0 && within(b.values(p, best, measure), v) {
				text = "**" + text + "**"
			}
			line += " | " + text
		}
		fmt.Fprintf(out, "| %s | %s | %d%s |\n", p[0], p[1], len(b.values(p, best, measure)), line)
	}
}

// within reports whether v is as good as the best up to half a point, or to the standard error of their difference.
func within(best, v map[int]float64) bool {
	var differences []float64
	for _, seed := range sortedSeeds(best) {
		if x, ok := v[seed]; ok {
			differences = append(differences, best[seed]-x)
		}
	}
	if len(differences) == 0 {
		return false
	}
	m, s := spread(differences)
	return m <= 0.005 || m <= s/math.Sqrt(float64(len(differences)))
}

// writeDefault lists where the default is not the best.
func (b *bench) writeDefault(out *bytes.Buffer) {
	fmt.Fprintf(out, "\n## Where the default (%s) is behind\n\n| measure | set | noise | %s | best | |\n|---|---|---|---:|---:|---|\n", judges.Default, judges.Default)
	for _, measure := range []string{"auroc", "ap", "found"} {
		for _, p := range b.places() {
			own := b.values(p, judges.Default, measure)
			best, top := "", math.Inf(-1)
			for _, name := range b.asked() {
				if v := mean(b.values(p, name, measure)); v > top {
					best, top = name, v
				}
			}
			if len(own) > 0 && !within(b.values(p, best, measure), own) {
				fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s |\n", measure, p[0], p[1], percent(own), percent(b.values(p, best, measure)), best)
			}
		}
	}
}

func (b *bench) writeReliability(out *bytes.Buffer) {
	fmt.Fprintf(out, "\n## Are scores probabilities?\n\nMean share of wrong labels by the scores beside the true one, mean |score - share right| over ten bins, and what\n`--precision 0.9` would take: share of the images, and how many of them are wrong.\n\n"+
		"| set | noise | judge | wrong | expected | error | taken | wrong among them |\n|---|---|---|---:|---:|---:|---:|---:|\n")
	for _, p := range b.places() {
		for _, j := range judges.Catalog {
			if v := b.values(p, j.Name, "expected"); len(v) > 0 {
				of := func(m string) string { return percent(b.values(p, j.Name, m)) }
				fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", p[0], p[1], j.Name, of("wrong"), of("expected"), of("error"), of("chosen"), of("precision"))
			}
		}
	}
}

func (b *bench) writeSeconds(out *bytes.Buffer) {
	fmt.Fprintf(out, "\n## Seconds\n\nThe least of all cells, on one core of a machine with other work; confident comes after probe and takes over its fits.\n\n| set | images | classes | %s |\n|---|---:|---:|%s\n",
		strings.Join(b.asked(), " | "), strings.Repeat("---:|", len(b.asked())))
	for _, d := range described {
		line, images, classes := "", 0.0, 0.0
		for _, name := range b.asked() {
			least := math.Inf(1)
			for _, r := range b.rows {
				if r.Set == d.name && r.Judge == name {
					least = math.Min(least, r.Values["seconds"])
					images, classes = math.Max(images, r.Values["images"]), math.Max(classes, r.Values["classes"])
				}
			}
			line += fmt.Sprintf(" | %.1f", least)
		}
		if images > 0 {
			fmt.Fprintf(out, "| %s | %.0f | %.0f%s |\n", d.name, images, classes, line)
		}
	}
}

// writeFindings adds up the counts of the seeds.
func (b *bench) writeFindings(out *bytes.Buffer) error {
	list, err := readFindings(filepath.Join(b.here, findingsFile))
	if err != nil || len(list) == 0 {
		return err
	}
	fmt.Fprintf(out, "\n## Findings\n\n| finding | set | symmetric noise | seeds | found | of | called wrongly | of | |\n|---|---|---:|---:|---:|---:|---:|---:|---:|\n")
	type place struct {
		kind, set string
		rate      float64
	}
	var order []place
	sums, seeds := map[place]*counted{}, map[place]int{}
	for _, f := range list {
		p := place{f.Kind, f.Set, f.Rate}
		if sums[p] == nil {
			sums[p] = &counted{}
			order = append(order, p)
		}
		s := sums[p]
		s.should, s.found, s.others, s.wrongly = s.should+f.should, s.found+f.found, s.others+f.others, s.wrongly+f.wrongly
		seeds[p]++
	}
	slices.SortStableFunc(order, func(a, b place) int { return strings.Compare(a.kind, b.kind) })
	for _, p := range order {
		if s := sums[p]; s.should > 0 {
			fmt.Fprintf(out, "| %s | %s | %.0f %% | %d | %d | %d | %d | %d | %.1f %% |\n", p.kind, p.set, 100*p.rate, seeds[p], s.found, s.should, s.wrongly, s.others, 100*float64(s.wrongly)/float64(s.others))
		}
	}
	return nil
}

func sortedSeeds(v map[int]float64) []int {
	var seeds []int
	for s := range v {
		seeds = append(seeds, s)
	}
	slices.Sort(seeds)
	return seeds
}

func listed(v map[int]float64) (list []float64) {
	for _, s := range sortedSeeds(v) {
		list = append(list, v[s])
	}
	return list
}

// mean returns -Inf for no values.
func mean(v map[int]float64) float64 {
	if len(v) == 0 {
		return math.Inf(-1)
	}
	m, _ := spread(listed(v))
	return m
}

// spread returns the mean and the standard deviation, 0 of one.
func spread(x []float64) (mean, deviation float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		deviation += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(deviation / math.Max(1, float64(len(x)-1)))
}

func percent(v map[int]float64) string {
	switch m, s := spread(listed(v)); len(v) {
	case 0:
		return "–"
	case 1:
		return fmt.Sprintf("%.1f", 100*m)
	default:
		return fmt.Sprintf("%.1f ± %.1f", 100*m, 100*s)
	}
}
