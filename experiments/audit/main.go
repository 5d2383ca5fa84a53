// Command audit measures how often package audit/findings finds oddities that are planted in a set: see
// experiments/audit/README.md. The judges of labels are a study, winnow reproduce audit-judges. A line of
// findings.csv is written for each kind of finding at once; finished cells are not repeated.
//
//	go run ./experiments/audit -name cub -manifest cub.csv -features cub.features
package main

import (
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"

	"winnow/audit/findings"
	"winnow/audit/judges"
	"winnow/datasets"
	"winnow/features"
	"winnow/head"
	"winnow/run"
	"winnow/train"
)

func main() {
	log.SetFlags(0)
	name := flag.String("name", "", "the set's name in findings.csv")
	manifest := flag.String("manifest", "", "its manifest, with right labels")
	store := flag.String("features", "", "the features of its images")
	seeds := flag.Int("seeds", 3, "the last seed")
	here := flag.String("here", "experiments/audit", "folder of findings.csv and copies.csv")
	root := flag.String("root", "", "where the paths of the manifest start; with -copies")
	copies := flag.String("copies", "", "instead, write pictures and copies of some of them to this folder, and look "+
		"for them there")
	model := flag.String("model", "", "the backbone that looks for copies")
	images := flag.Int("images", 3000, "pictures that copies are looked for among")
	each := flag.Int("each", 50, "copies made in each way")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch {
	case *copies == "":
		err = measure(ctx, *name, *manifest, *store, *seeds, filepath.Join(*here, "findings.csv"))
	default:
		if _, err = os.Stat(*copies); errors.Is(err, fs.ErrNotExist) {
			err = plantCopies(ctx, *manifest, *root, *copies, *images, *each)
		}
		if err == nil {
			err = measureCopies(ctx, *name, *copies, *model, filepath.Join(*here, "copies.csv"))
		}
	}
	if err != nil {
		log.Fatal(err)
	}
}

// measure plants oddities and looks for them, in every cell that is not finished.
func measure(ctx context.Context, name, manifest, store string, seeds int, to string) error {
	done, err := read(to)
	if err != nil {
		return err
	}
	d, err := datasets.ReadFile(manifest, datasets.ReadOptions{})
	if err != nil {
		return err
	}
	data, err := run.Load(ctx, d, store, false)
	if err != nil {
		return err
	}
	set := data.Train.Labelled()
	for seed := 1; seed <= seeds; seed++ {
		for _, rate := range []float64{0, 0.2, 0.5} {
			cell := []string{name, fmt.Sprint(rate), strconv.Itoa(seed)}
			if slices.ContainsFunc(done, func(line []string) bool { return slices.Equal(line[:3], cell) }) {
				continue
			}
			p := plant(set, len(data.Classes), rate, train.Rand(uint64(seed), "findings "+name, int(100*rate)))
			if err := look(ctx, p, seed, func(kind string, c counted) error {
				log.Printf("%s: %s: %d of %d found, %d of %d others", cell, kind, c.found, c.should, c.wrongly,
					c.others)
				return write(to, findingsHeader, append(slices.Clone(cell), kind, strconv.Itoa(c.should),
					strconv.Itoa(c.found), strconv.Itoa(c.others), strconv.Itoa(c.wrongly)))
			}); err != nil {
				return fmt.Errorf("%s: %w", cell, err)
			}
		}
	}
	return nil
}

// A tenth of the classes, at least one, are split into two names; the same number are merged with another; and the
// images of the same number get random labels of the other classes and fit none.
const tampered = 10

// planted is a set with known oddities.
type planted struct {
	z          features.Set
	classes    int
	split, two []bool // by class: split into two names; made of two classes
}

// plant plants oddities in the classes and changes a share of the labels.
func plant(set features.Set, n int, rate float64, rng *rand.Rand) planted {
	order, count := rng.Perm(n), max(1, n/tampered)
	split, first, second, gone := order[:count], order[count:2*count], order[2*count:3*count], order[3*count:4*count]
	p := planted{classes: n + count}
	p.split, p.two = make([]bool, p.classes), make([]bool, p.classes)
	p.z = set.Rows(features.AllRows(set.Len()))
	var left []int // classes that images can get
	for k := range p.classes {
		if !slices.Contains(second, k) && !slices.Contains(gone, k) {
			left = append(left, k)
		}
	}
	for i, y := range p.z.Labels {
		to := y
		if at := slices.Index(split, y); at >= 0 && rng.IntN(2) == 0 {
			to = n + at
		}
		if at := slices.Index(second, y); at >= 0 {
			to = first[at]
		}
		if slices.Contains(gone, y) {
			to = left[rng.IntN(len(left))]
		} else if rng.Float64() < rate {
			for old := to; to == old; {
				to = left[rng.IntN(len(left))]
			}
		}
		p.z.Labels[i] = to
	}
	for at, k := range split {
		p.split[k], p.split[n+at] = true, true
	}
	for _, k := range first {
		p.two[k] = true
	}
	return p
}

// counted counts right and wrong findings.
type counted struct{ should, found, others, wrongly int }

func (c *counted) add(should, found bool) {
	switch {
	case should && found:
		c.found++
		fallthrough
	case should:
		c.should++
	case found:
		c.wrongly++
		fallthrough
	default:
		c.others++
	}
}

// look runs the default judge and counts its findings.
func look(ctx context.Context, p planted, seed int, tell func(kind string, c counted) error) error {
	z, err := head.WhitenSet(ctx, p.z, head.Widest)
	if err != nil {
		return err
	}
	v, err := judges.Ask(ctx, z, p.classes, judges.Fitted, judges.Options{Rand: train.Rand(uint64(seed), "judges", 0)})
	if err != nil {
		return err
	}
	var same, two counted
	classes, err := findings.Classes(ctx, v.Classes)
	if err != nil {
		return err
	}
	for _, c := range classes {
		same.add(p.split[c.Class], c.SameAsLike())
		two.add(p.two[c.Class], c.LooksLikeTwo())
	}
	return errors.Join(tell("same", same), tell("two", two))
}

func read(path string) ([][]string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return csv.NewReader(f).ReadAll()
}

var findingsHeader = []string{"set", "rate", "seed", "finding", "should", "found", "others", "wrongly"}

func write(path string, header, record []string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	if info, err := f.Stat(); err == nil && info.Size() == 0 {
		// Error returns its error
		w.Write(header)
	}
	w.Write(record)
	w.Flush()
	return errors.Join(w.Error(), f.Close())
}
