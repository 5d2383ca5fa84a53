// Command samples measures how well what a training saw of its samples finds wrong labels, beside judges of the
// embedding that it ended with and of the untrained features: experiments/samples/README.md. It runs the given winnow
// program as a user would, and appends every number to results.csv at once, so that it can be stopped and
// started again; finished cells are not repeated.
//
//	go run ./experiments/samples -winnow bin/winnow -sets cub=cub.csv:cub-features,glyphs=glyphs.csv:glyphs-features -work DIR
//	go run ./experiments/samples -report
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os/exec"
	"path/filepath"
	"strings"
)

// trainings are the ways to train, by name.
var trainings = []struct {
	name string
	args func(rate string) []string
}{
	{"prism", func(rate string) []string { return []string{"--noise-rate", rate} }},
	{"plain", func(string) []string {
		return []string{"--loss", "norm_softmax", "--filter", "none", "--set", "scores.watch=vmf"}
	}},
}

// scorers judge every run; the last two judge the embedding that it ended with.
var scorers = []string{"small-loss", "ensemble", "forgetting", "vmf", "centres"}

// untrained is the judge of the stored features.
const untrained = "centres"

// bench is where things lie.
type bench struct {
	winnow, work, here string
	epochs, seeds      int
	rows               []row
}

// set is a data set: a manifest of right labels and its features.
type set struct{ name, manifest, features string }

func main() {
	log.SetFlags(0)
	var b bench
	var sets, rates string
	var report bool
	flag.StringVar(&b.winnow, "winnow", "bin/winnow", "the program that is measured")
	flag.StringVar(&b.work, "work", "", "folder for manifests and runs")
	flag.StringVar(&b.here, "here", "experiments/samples", "folder of results.csv and tables.md")
	flag.StringVar(&sets, "sets", "", "NAME=MANIFEST:FEATURES, separated by commas")
	flag.StringVar(&rates, "rates", "0.2,0.5", "rates of symmetric noise")
	flag.IntVar(&b.epochs, "epochs", 10, "length of a training")
	flag.IntVar(&b.seeds, "seeds", 2, "the last seed")
	flag.BoolVar(&report, "report", false, "write tables.md and stop")
	flag.Parse()
	var err error
	if b.rows, err = readRows(filepath.Join(b.here, resultsFile)); err != nil {
		log.Fatal(err)
	}
	if report {
		err = b.report()
	} else {
		err = b.all(sets, rates)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func (b *bench) all(sets, rates string) error {
	for seed := 1; seed <= b.seeds; seed++ {
		for _, text := range strings.Split(sets, ",") {
			name, where, _ := strings.Cut(text, "=")
			manifest, store, ok := strings.Cut(where, ":")
			if !ok {
				return fmt.Errorf("-sets: %q is not NAME=MANIFEST:FEATURES", text)
			}
			for _, rate := range strings.Split(rates, ",") {
				if err := b.cell(set{name, manifest, store}, rate, seed); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// cell measures one noisy set: the judge of its features, then every training with all its scorers.
func (b *bench) cell(s set, rate string, seed int) error {
	noisy := filepath.Join(b.work, fmt.Sprintf("%s-%s-%d.csv", s.name, rate, seed))
	if err := b.call(nil, "data", "corrupt", s.manifest, "--rate", rate, "--seed", fmt.Sprint(seed), "--out", noisy); err != nil {
		return err
	}
	at := row{Set: s.name, Rate: rate, Seed: seed, Training: "none"}
	if err := b.audit(at, untrained, "--manifest", noisy, "--features", s.features); err != nil {
		return err
	}
	for _, t := range trainings {
		dir := filepath.Join(b.work, fmt.Sprintf("%s-%s-%d-%s", s.name, rate, seed, t.name))
		if b.finished(s.name, rate, seed, t.name) {
			continue
		}
		args := append([]string{"train", "--manifest", noisy, "--features", s.features, "--out", dir, "--overwrite", "--quiet",
			"--epochs", fmt.Sprint(b.epochs), "--seed", fmt.Sprint(seed)}, t.args(rate)...)
		if err := b.call(nil, args...); err != nil {
			return err
		}
		at.Training = t.name
		for _, scorer := range scorers {
			if err := b.audit(at, scorer, dir, "--last"); err != nil {
				return err
			}
		}
	}
	return nil
}

// audit measures one scorer: twice, as the number of labels to call wrong is the true one.
func (b *bench) audit(at row, scorer string, args ...string) error {
	at.Scorer = scorer
	if b.has(at) {
		return nil
	}
	args = append([]string{"audit", "--json", "--top", "0", "--scorer", scorer}, args...)
	rate := 0.0
	for range 2 {
		var found struct {
			Detection struct {
				Samples, Wrong       int
				AUROC, AP, Precision float64
			} `json:"detection"`
			Images []struct {
				Given     string `json:"given_label"`
				Suggested string `json:"suggested_label"`
				True      string `json:"true_label"`
			} `json:"images"`
		}
		if err := b.call(&found, append(args, "--noise-rate", fmt.Sprint(rate))...); err != nil {
			return err
		}
		d := found.Detection
		rate = (float64(d.Wrong) + 0.5) / float64(d.Samples)
		at.Samples, at.Wrong, at.AUROC, at.AP, at.Precision = d.Samples, d.Wrong, d.AUROC, d.AP, d.Precision
		mended := 0
		for _, i := range found.Images {
			if i.Given != i.True && i.Suggested == i.True {
				mended++
			}
		}
		at.Mended = float64(mended) / float64(d.Wrong)
	}
	b.rows = append(b.rows, at)
	log.Printf("%+v", at)
	return at.append(filepath.Join(b.here, resultsFile))
}

// call runs the program; its JSON goes into out, unless that is nil.
func (b *bench) call(out any, args ...string) error {
	cmd := exec.Command(b.winnow, args...)
	var diagnostics strings.Builder
	cmd.Stderr = &diagnostics
	text, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, diagnostics.String())
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}
