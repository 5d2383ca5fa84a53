package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"winnow/datasets"
	"winnow/eval"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
)

// past reads the folder of a run of winnow train: its validation, kept and screened labels, and the classes' κ. The
// kept labels are compared with the truth in the last part of the run, which samples.csv covers.
func past(_ context.Context, args []string) error {
	f, here := newFlags("past")
	var c cell
	f.StringVar(&c.set, "set", "", "images and network, as the tables call them")
	f.StringVar(&c.noise, "noise", "", "the labels' noise, as the tables call it")
	f.StringVar(&c.arm, "arm", "", "what the tables call the run")
	dir := f.String("run", "", "its folder")
	manifest := f.String("manifest", "", "its manifest, with true labels")
	seen := f.String("seen", "", "what winnow eval --last --split train --json printed of a manifest of right labels")
	f.Parse(args)
	if err := need(f, "set", "noise", "arm", "run", "manifest"); err != nil {
		return err
	}
	done, err := readTable(*here, "retrieval")
	if err != nil || len(done.of(c)) > 0 {
		return err
	}
	found, err := readRun(*dir, *manifest)
	if err != nil {
		return err
	}
	if *seen != "" {
		if err := addSeen(found["retrieval"], *seen); err != nil {
			return err
		}
	}
	for _, name := range []string{"filter", "kappa", "retrieval"} {
		if err := write(*here, name, c, found[name]); err != nil {
			return err
		}
	}
	return nil
}

// addSeen adds the retrieval of training images before and after the run.
func addSeen(retrieval [][]string, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var found struct {
		eval.Retrieval
		Frozen, Whitened eval.Retrieval
	}
	if err := json.Unmarshal(text, &found); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for at, r := range map[int]eval.Retrieval{0: found.Frozen, 1: found.Whitened, len(retrieval) - 1: found.Retrieval} {
		retrieval[at][1] = line(r.PrecisionAt1)[0]
	}
	return nil
}

func readRun(dir, manifest string) (map[string][][]string, error) {
	cfg, err := config.Load(filepath.Join(dir, folder.ConfigFile), nil)
	if err != nil {
		return nil, err
	}
	facts, err := folder.ReadFacts(dir)
	if err != nil {
		return nil, err
	}
	metrics, err := train.ReadMetrics(dir)
	if err != nil {
		return nil, err
	}
	diagnoses, err := train.ReadDiagnostics(dir)
	if err != nil {
		return nil, err
	}
	nan, out := math.NaN(), map[string][][]string{}
	frozen := nan
	if result, err := folder.ReadResult(dir); err == nil && result.Validation != nil { // a stopped run has none
		frozen = result.Validation.Frozen.PrecisionAt1
	}
	out["retrieval"] = append(out["retrieval"], line(-1, nan, frozen))
	var kept, rows []int
	for _, m := range metrics {
		switch {
		case m.Validation != nil:
			out["retrieval"] = append(out["retrieval"],
				line(float64(m.Step)/float64(facts.StepsPerEpoch), nan, *m.Validation))
		case m.Kept != nil:
			for len(kept) < m.Epoch {
				kept, rows = append(kept, 0), append(rows, 0)
			}
			kept[m.Epoch-1], rows[m.Epoch-1] = kept[m.Epoch-1]+*m.Kept, rows[m.Epoch-1]+m.Rows
		}
	}
	s, err := readTruth(dir, manifest)
	if err != nil {
		return nil, err
	}
	told := nan
	if cfg.Filter.Scorer != config.NoFilter {
		told = cfg.Filter.Rate.Share
	}
	out["filter"] = append(out["filter"], line(0, told, s.right/s.all, s.part/s.all, s.rightPart/s.part,
		s.rightPart/s.right))
	for e := range kept {
		l := line(float64(e+1), told, nan, float64(kept[e])/float64(rows[e]), nan, nan)
		if e == len(kept)-1 && s.kept > 0 {
			l = line(float64(e+1), told, nan, float64(kept[e])/float64(rows[e]), s.clean/s.kept,
				s.clean/s.seen*s.rightPart/s.right)
		}
		out["filter"] = append(out["filter"], l)
	}
	for _, d := range diagnoses {
		if k := d.Kappa; k != nil {
			out["kappa"] = append(out["kappa"], line(float64(d.Step)/float64(facts.StepsPerEpoch), k.Q1, k.Median,
				k.Q3))
		}
	}
	return out, nil
}

// truth counts labels of the training images: all, right, taking part, and right among these; and visits in the last
// part of the run: of right labels, kept, and kept with a right label.
type truth struct{ all, right, part, rightPart, seen, kept, clean float64 }

func readTruth(dir, manifest string) (s truth, err error) {
	d, err := datasets.ReadFile(manifest, datasets.ReadOptions{})
	if err != nil {
		return s, err
	}
	screened, err := folder.ReadScreening(dir)
	if err != nil {
		return s, err
	}
	out, right := map[string]bool{}, map[string]bool{}
	for _, x := range screened {
		out[x.Path] = true
	}
	for _, x := range d.Samples {
		if x.Split != datasets.Train || x.Label == datasets.Unlabelled || x.True == datasets.Unlabelled {
			continue
		}
		right[x.Path] = x.Label == x.True
		s.all++
		if right[x.Path] {
			s.right++
		}
		if out[x.Path] {
			continue
		}
		s.part++
		if right[x.Path] {
			s.rightPart++
		}
	}
	list, err := folder.ReadSamples(dir)
	for _, x := range list {
		s.kept += float64(x.Kept)
		if right[x.Path] {
			s.seen, s.clean = s.seen+float64(x.Seen), s.clean+float64(x.Kept)
		}
	}
	return s, err
}
