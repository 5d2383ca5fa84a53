package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/findings"
	"winnow/audit/judges"
	"winnow/features"
	"winnow/head"
	"winnow/train"
)

const findingsFile = "findings.csv"

// A tenth of the classes, at least one, are split into two names; as many are merged with another; the images of as
// many are foreign: they get labels of the other classes at random and fit none.
const tampered = 10

// planted is a set with known oddities.
type planted struct {
	z          features.Set
	classes    int
	split, two []bool // by class: it shares its images with another name; it holds two classes
	foreign    []bool // by row
	far        []bool // by row: of another set
}

// plant tampers with the true labels and gives a share of them another label.
func plant(s *opened, other blas32.General, rate float64, rng *rand.Rand) planted {
	n := len(s.classes)
	order, count := rng.Perm(n), max(1, n/tampered)
	split, first, second, gone := order[:count], order[count:2*count], order[2*count:3*count], order[3*count:4*count]
	p := planted{classes: n + count, foreign: make([]bool, s.z.Len()), far: make([]bool, s.z.Len())}
	p.split, p.two = make([]bool, p.classes), make([]bool, p.classes)
	p.z = features.Set{X: s.raw, Labels: slices.Clone(s.z.Labels)}.Rows(numbers(s.z.Len()))
	var left []int // classes that images may be given
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
		if p.foreign[i] = slices.Contains(gone, y); p.foreign[i] {
			to = left[rng.IntN(len(left))]
			if p.far[i] = other.Rows > 0 && i%2 == 0; p.far[i] {
				copy(p.z.Row(i), features.Row(other, rng.IntN(other.Rows)))
			}
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

func numbers(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// counted counts findings made where they should be and where not.
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

// findings measures them in every cell that is not finished.
func (b *bench) findings(ctx context.Context) error {
	done, err := readFindings(filepath.Join(b.here, findingsFile))
	if err != nil {
		return err
	}
	for seed := 1; seed <= b.seeds; seed++ {
		for _, name := range b.sets {
			s, err := b.open(name)
			if err != nil {
				return err
			}
			var other blas32.General
			if s.foreign != "" {
				from, err := b.open(s.foreign)
				if err != nil {
					return err
				}
				other = from.raw
			}
			for _, rate := range []float64{0, 0.2, 0.5} {
				if slices.ContainsFunc(done, func(r finding) bool { return r.Set == name && r.Rate == rate && r.Seed == seed }) {
					continue
				}
				if err := b.look(ctx, s, other, rate, seed); err != nil {
					return fmt.Errorf("%s, %g, seed %d: %w", name, rate, seed, err)
				}
			}
		}
	}
	return nil
}

// look plants and looks.
func (b *bench) look(ctx context.Context, s *opened, other blas32.General, rate float64, seed int) error {
	p := plant(s, other, rate, train.Rand(uint64(seed), "findings "+s.name, int(100*rate)))
	z, err := head.WhitenSet(p.z, judgedDim)
	if err != nil {
		return err
	}
	v, err := judges.Of(ctx, z, p.classes, judges.Default, judges.Options{Rand: train.Rand(uint64(seed), "judges", 0)})
	if err != nil {
		return err
	}
	var same, two, outlier, far counted
	for _, c := range findings.Classes(v.Classes) {
		same.add(p.split[c.Class], c.SameAsLike())
		two.add(p.two[c.Class], c.LooksLikeTwo())
		if os.Getenv("VALUES") != "" {
			log.Printf("class %v %v %.3f %d %.3f", p.split[c.Class], p.two[c.Class], c.Alike, c.Compared, c.Groups)
		}
	}
	for i, fit := range findings.Fit(v.Classes) {
		row := v.Classes.Rows[i]
		if found := fit < findings.Outlying; p.far[row] {
			far.add(true, found)
		} else if outlier.add(p.foreign[row], found); !p.foreign[row] {
			far.add(false, found)
		}
		if os.Getenv("VALUES") != "" {
			log.Printf("fit %v %v %.3f", p.foreign[row], p.far[row], fit)
		}
	}
	for _, f := range []finding{{s.name, rate, seed, "same", same}, {s.name, rate, seed, "two", two}, {s.name, rate, seed, "held-out class", outlier}, {s.name, rate, seed, "other set", far}} {
		log.Printf("%s, symmetric %g %%, seed %d: %s: %d of %d found, %d of %d others", f.Set, 100*f.Rate, f.Seed, f.Kind, f.found, f.should, f.wrongly, f.others)
		if err := appendFinding(filepath.Join(b.here, findingsFile), f); err != nil {
			return err
		}
	}
	return nil
}

// finding is a line of findings.csv.
type finding struct {
	Set  string
	Rate float64
	Seed int
	Kind string
	counted
}

func appendFinding(path string, r finding) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	if info, err := f.Stat(); err == nil && info.Size() == 0 {
		w.Write([]string{"set", "rate", "seed", "finding", "should", "found", "others", "wrongly"})
	}
	record := []string{r.Set, fmt.Sprint(r.Rate), strconv.Itoa(r.Seed), r.Kind}
	for _, v := range []int{r.should, r.found, r.others, r.wrongly} {
		record = append(record, strconv.Itoa(v))
	}
	w.Write(record)
	w.Flush()
	return errors.Join(w.Error(), f.Close())
}

func readFindings(path string) ([]finding, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var list []finding
	for i, record := range records[min(1, len(records)):] {
		if len(record) != 8 {
			return nil, fmt.Errorf("%s:%d: %d columns, expected 8", path, i+2, len(record))
		}
		r := finding{Set: record[0], Kind: record[3]}
		var errs [6]error
		r.Rate, errs[0] = strconv.ParseFloat(record[1], 64)
		r.Seed, errs[1] = strconv.Atoi(record[2])
		for k, to := range []*int{&r.should, &r.found, &r.others, &r.wrongly} {
			*to, errs[2+k] = strconv.Atoi(record[4+k])
		}
		if err := errors.Join(errs[:]...); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+2, err)
		}
		list = append(list, r)
	}
	return list, nil
}
