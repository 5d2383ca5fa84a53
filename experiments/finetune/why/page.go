package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"winnow/filters"
	"winnow/internal/atomicfile"
	"winnow/report/chart"
)

// order is the order of arms in tables and of their colours in figures.
var order = []string{"no filter", "empty bank", "filled bank", "no copies", "head alone", "slow head", "default",
	"told", "warm-up", "no bank",
	"20 epochs", "network at 3e-5", "network from epoch 2", "flipped images", "all trained",
	"all trained, flipped images", "all trained, flipped images, 3e-4"}

// smoothing is the weight of the past in curves over steps.
const smoothing = 0.9

// page draws the figures and puts the tables into why.md, between <!-- table NAME --> and <!-- end -->.
func page(_ context.Context, args []string) error {
	f, here := newFlags("page")
	f.Parse(args)
	t := map[string]table{}
	for name := range tables {
		var err error
		if t[name], err = readTable(*here, name); err != nil {
			return err
		}
	}
	for _, set := range t["retrieval"].distinct("set") {
		if err := figures(*here, set, t); err != nil {
			return err
		}
	}
	if err := ranges(*here); err != nil {
		return err
	}
	path := filepath.Join(*here, "why.md")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	between := regexp.MustCompile(`(?s)(<!-- table (\S+) -->\n).*?(<!-- end -->)`)
	text = between.ReplaceAllFunc(text, func(m []byte) []byte {
		part := between.FindSubmatch(m)
		return slices.Concat(part[1], []byte("\n"+tableOf(string(part[2]), t)+"\n"), part[3])
	})
	return atomicfile.WriteBytes(path, text)
}

// ranges draws range tests: copies of lr_range.csv, named range-SET-NOISE.csv, of runs of winnow train --lr auto
// --backbone-lr auto.
func ranges(here string) error {
	files, err := filepath.Glob(filepath.Join(here, "why", "range-*.csv"))
	if err != nil {
		return err
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".csv")
		t, err := readTable(here, name)
		if err != nil {
			return err
		}
		var lines []chart.Line
		for tone, weights := range t.distinct("weights") {
			l := chart.Line{Name: weights, Tone: tone}
			for _, row := range t {
				if v, err := strconv.ParseFloat(row["change_smoothed"], 64); err == nil &&
					row["weights"] == weights && v < steepest {
					x, _ := strconv.ParseFloat(row["lr"], 64)
					l.X, l.Y = append(l.X, x), append(l.Y, v)
				}
			}
			lines = append(lines, l)
		}
		frame := chart.Frame{Title: "Range test: " + strings.TrimPrefix(name, "range-"), X: "learning rate",
			Y: "change of the loss", LogX: true}
		if err := draw(strings.TrimSuffix(file, ".csv")+".svg", frame, lines); err != nil {
			return err
		}
	}
	return nil
}

// steepest is the relative change of the loss from which a range test is not drawn: it would flatten the others.
const steepest = 0.15

// draw writes a figure of the lines that have points.
func draw(path string, f chart.Frame, lines []chart.Line) error {
	lines = slices.DeleteFunc(lines, func(l chart.Line) bool { return len(l.X) == 0 })
	if len(lines) == 0 {
		return nil
	}
	f.Titled = true
	var b bytes.Buffer
	if err := (chart.Lines{Frame: f, Series: lines}).WriteSVG(&b); err != nil {
		return err
	}
	return atomicfile.WriteBytes(path, b.Bytes())
}

func tableOf(name string, t map[string]table) string {
	if name == "views" {
		return viewsTable(t["views"])
	}
	return setTable(name, t)
}

// setTable has a row for every training of a set.
func setTable(set string, t map[string]table) string {
	b := new(strings.Builder)
	b.WriteString("| noise | | take part, of them right | told | kept, first to last epoch | of these right | right " +
		"ones kept | wrong labels' share of the pull | unseen P@1: best after training, last | training P@1, last | " +
		"κ, first to last |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, noise := range t["retrieval"].of(cell{set: set}).distinct("noise") {
		of := t["retrieval"].of(cell{set: set, noise: noise})
		frozen, white := before(of, "-1"), before(of, "0")
		fmt.Fprintf(b, "| %s | frozen | | | | | | | %s | %s | |\n| | whitened | | | | | | | %s | %s | |\n", noise,
			short(frozen["unseen"]), short(frozen["seen"]), short(white["unseen"]), short(white["seen"]))
		for _, arm := range order {
			c := cell{set, noise, arm}
			r := t["retrieval"].of(c)
			if len(r) < 3 {
				continue
			}
			last, best := r[len(r)-1], 0.0
			_, unseen := r[2:].numbers("epoch", "unseen")
			for _, v := range unseen {
				best = max(best, v)
			}
			kept := t["filter"].of(c)
			_, wrong := t["pulls"].of(c).numbers("epoch", "wrong")
			kappas := t["kappa"].of(c)
			kappa := ""
			if len(kappas) > 0 {
				kappa = whole(kappas[0]["median"]) + " → " + whole(kappas[len(kappas)-1]["median"])
			}
			fmt.Fprintf(b, "| | %s | %s, %s | %s | %s | %s | %s | %s | %s, %s | %s | %s |\n", arm,
				short(kept[0]["kept"]), short(kept[0]["precision"]), short(kept[0]["told"]),
				fromTo(kept, "kept"), fromTo(kept, "precision"), fromTo(kept, "recall"), average(wrong),
				short(fmt.Sprint(best)), short(last["unseen"]), short(last["seen"]), kappa)
		}
	}
	return b.String()
}

func viewsTable(t table) string {
	b := new(strings.Builder)
	b.WriteString("| set | recipe | own image | other images | own, whitened | others, whitened |\n" +
		"|---|---|---|---|---|---|\n")
	for _, set := range t.distinct("set") {
		for i, row := range t.of(cell{set: set}) {
			name := set
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", name, row["arm"], short(row["own"]),
				short(row["others"]), short(row["own_whitened"]), short(row["others_whitened"]))
		}
	}
	return b.String()
}

// figures draws the figures of a set.
func figures(here, set string, t map[string]table) error {
	draw := func(name string, f chart.Frame, lines []chart.Line) error {
		return draw(filepath.Join(here, "why", name+"-"+set+".svg"), f, lines)
	}
	for _, noise := range t["retrieval"].of(cell{set: set}).distinct("noise") {
		var found, kept, kappas, pulls []chart.Line
		for tone, arm := range order {
			c := cell{set, noise, arm}
			add := func(to *[]chart.Line, name, from, column string, after float64, dashed, smooth bool) {
				l := chart.Line{Name: name, Tone: tone, Dashed: dashed, Dots: !smooth}
				xs, ys := t[from].of(c).numbers("epoch", column)
				for i, x := range xs {
					if x >= after {
						l.X, l.Y = append(l.X, x), append(l.Y, ys[i])
					}
				}
				if smooth {
					l.Y = filters.Smooth(smoothing, l.Y)
				}
				*to = append(*to, l)
			}
			add(&found, arm, "retrieval", "unseen", 0, false, false)
			add(&found, arm+", training classes", "retrieval", "seen", 0, true, false)
			add(&kappas, arm, "kappa", "median", 0, false, false)
			add(&pulls, arm, "pulls", "wrong", 0, false, true)
			if arm != "no filter" && arm != "no bank" {
				add(&kept, arm, "filter", "precision", 1, false, false)
				add(&kept, arm+": right ones kept", "filter", "recall", 1, true, false)
			}
		}
		title := set + ", " + noise
		for _, err := range []error{
			draw("retrieval-"+noise, chart.Frame{Title: "P@1: " + title, X: "epoch", Y: "P@1", Percent: true}, found),
			draw("filter-"+noise, chart.Frame{Title: "Right of the kept: " + title, X: "epoch", Y: "right",
				Percent: true}, kept),
			draw("kappa-"+noise, chart.Frame{Title: "κ, median: " + title, X: "epoch", Y: "κ"}, kappas),
			draw("wrong-"+noise, chart.Frame{Title: "Wrong labels' pull: " + title, X: "epoch", Y: "share",
				Percent: true}, pulls),
		} {
			if err != nil {
				return err
			}
		}
		if err := draw("terms-"+noise, chart.Frame{Title: "Lengths of gradients: " + title, X: "epoch", Y: "length",
			LogY: true}, terms(t["pulls"], set, noise)); err != nil {
			return err
		}
		if err := draw("drift-"+noise, chart.Frame{Title: "A vector and its older one: " + title, X: "age in steps",
			Y: "mean cosine"}, drifts(t["drift"], set, noise)); err != nil {
			return err
		}
	}
	return nil
}

// terms draws both terms without a filter and with the defaults.
func terms(t table, set, noise string) (lines []chart.Line) {
	for i, arm := range []string{"no filter", "default"} {
		of := t.of(cell{set, noise, arm})
		for _, term := range []string{"batch", "bank"} {
			xs, ys := of.numbers("epoch", term)
			lines = append(lines, chart.Line{Name: arm + ": " + term, Tone: i, Dashed: term == "batch", X: xs,
				Y: filters.Smooth(smoothing, ys)})
		}
	}
	return lines
}

// drifts draws a line for the first, the second and the last epoch of two trainings.
func drifts(t table, set, noise string) (lines []chart.Line) {
	for i, arm := range []string{"no filter", "default"} {
		of := t.of(cell{set, noise, arm})
		epochs := of.distinct("epoch")
		for j, epoch := range epochs {
			if j > 1 && j < len(epochs)-1 {
				continue
			}
			var one table
			for _, row := range of {
				if row["epoch"] == epoch && row["pairs"] > "" {
					one = append(one, row)
				}
			}
			xs, ys := one.numbers("age", "cosine")
			lines = append(lines, chart.Line{Name: arm + ", epoch " + epoch, Tone: 3*i + min(j, 2), Dashed: i == 1,
				X: xs, Y: ys, Dots: true})
		}
	}
	return lines
}

// before returns the numbers before training, from any training that has them.
func before(t table, epoch string) map[string]string {
	known := map[string]string{}
	for _, row := range t {
		if row["epoch"] == epoch {
			for _, column := range []string{"seen", "unseen"} {
				if known[column] == "" {
					known[column] = row[column]
				}
			}
		}
	}
	return known
}

// fromTo returns a column of a filter's lines in the first and the last epoch.
func fromTo(kept table, column string) string {
	first, last := short(kept[1][column]), short(kept[len(kept)-1][column])
	if first == "" {
		return last
	}
	return first + " → " + last
}

// average returns a mean as text; "" for no numbers.
func average(values []float64) string {
	if len(values) == 0 {
		return ""
	}
	var mean float64
	for _, v := range values {
		mean += v / float64(len(values))
	}
	return short(fmt.Sprint(mean))
}

// short returns a share with three digits; "" for an empty one.
func short(value string) string {
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(fmt.Sprintf("%.3f", v), "0")
}

func whole(value string) string {
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%.0f", v)
}
