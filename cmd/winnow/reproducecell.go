package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"winnow/datasets"
	"winnow/features"
	"winnow/papers/recipes"
	"winnow/papers/studies"
	"winnow/run"
	"winnow/run/config"
)

// cellVersion is raised when what a cell computes changes, so that old cells are not taken for new ones.
const cellVersion = 1

// plan lists the cells, seed by seed, so that a run that is stopped early has all cells with few seeds.
func (r *reproduction) plan() error {
	seeds, err := r.seeds()
	if err != nil {
		return err
	}
	if err := r.checkSettings(); err != nil {
		return err
	}
	standIn := r.data.standIn
	r.results = studies.NewResults(&r.study, r.data.words(&r.study), standIn != nil)
	var columns []int
	seen := map[string]bool{}
	for j, c := range r.study.Columns {
		data := r.data.of(c)
		if data == nil {
			r.left = append(r.left, c.Name)
			continue
		}
		same := fmt.Sprintf("%s %g %v", c.Noise, c.Rate, c.Set) // columns that differ in the dataset alone are one on a stand-in
		if !matches(c.Name, r.c.StringSlice("columns")) || standIn != nil && seen[same] {
			continue
		}
		seen[same] = true
		columns = append(columns, j)
	}
	if len(r.left) > 0 {
		note(r.c, "no --data for the columns %s: they are left out", strings.Join(r.left, ", "))
	}
	for _, seed := range seeds {
		for _, j := range columns {
			for i, row := range r.study.Rows {
				if row.Recipe == "" || slices.Contains(row.Skip, r.study.Columns[j].Name) || !r.wanted(row) {
					continue
				}
				cell := studies.Cell{Row: i, Column: j, Seed: seed}
				if cell.Key, err = r.key(cell); err != nil {
					return asMisuse(err) // studies are valid: it is --set
				}
				r.cells = append(r.cells, cell)
			}
		}
	}
	if len(r.cells) == 0 {
		return misused("reproduce: no cell of %s has --rows and --columns in the names of its row and column; rows: %s; columns: %s", r.study.Name, strings.Join(r.study.RowNames(), ", "), strings.Join(r.study.ColumnNames(), ", "))
	}
	return nil
}

// wanted says whether --rows asks for a row, or for a ratio that needs it.
func (r *reproduction) wanted(row studies.Row) bool {
	texts := r.c.StringSlice("rows")
	if matches(row.Name, texts) {
		return true
	}
	return slices.ContainsFunc(r.study.Rows, func(other studies.Row) bool {
		return other.Ratio != nil && matches(other.Name, texts) && (other.Ratio.Of == row.Name || other.Ratio.To == row.Name)
	})
}

// seeds reads --seeds.
func (r *reproduction) seeds() ([]uint64, error) {
	text := r.c.String("seeds")
	if text == "" {
		text = strconv.Itoa(r.study.Seeds)
	}
	if n, err := strconv.Atoi(text); err == nil && n > 0 && n <= 1000 {
		text = fmt.Sprintf("1-%d", n)
	}
	var seeds []uint64
	for part := range strings.SplitSeq(text, ",") {
		from, to, span := strings.Cut(strings.TrimSpace(part), "-")
		if !span {
			to = from
		}
		a, err1 := strconv.ParseUint(from, 10, 32)
		b, err2 := strconv.ParseUint(to, 10, 32)
		if err1 != nil || err2 != nil || a < 1 || b < a || b-a >= 1000 {
			return nil, misused("--seeds: found %q, expected a number of repetitions, or a list as 1,3,7-9", r.c.String("seeds"))
		}
		for s := a; s <= b; s++ {
			seeds = append(seeds, s)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(seeds))), nil
}

// words names the data.
func (d reproduceData) words(s *studies.Study) string {
	if d.standIn != nil {
		return d.standIn.name
	}
	var names []string
	for _, name := range s.Datasets() {
		if data := d.named[name]; data != nil {
			names = append(names, name+": "+data.name)
		}
	}
	return strings.Join(names, "; ")
}

// config is the resolved configuration of a cell.
func (r *reproduction) config(cell studies.Cell) (config.Run, error) {
	row, column := r.study.Rows[cell.Row], r.study.Columns[cell.Column]
	recipe, err := recipes.Find(row.Recipe)
	if err != nil {
		return config.Run{}, err
	}
	settings := slices.Concat(r.study.Set, column.Set, row.Set)
	settings = append(settings, r.settingsOf(row)...)
	cfg, err := config.Parse(recipe.Name, []byte(recipe.Text), settings)
	if err != nil {
		return cfg, err
	}
	rate := column.Rate
	if column.Says != nil {
		rate = *column.Says
	}
	if row.Labels == studies.True || row.Labels == studies.Topline || column.Noise == trueLabels || column.Noise == "" {
		rate = 0
	}
	if !slices.ContainsFunc(settings, func(s string) bool { return strings.HasPrefix(s, "filter.rate=") }) {
		cfg.Filter.Rate = config.Rate(rate)
	}
	if cfg.HasPeers() {
		cfg.Peers.Rate = cfg.Filter.Rate
	}
	cfg.Seed, cfg.Checkpoint = cell.Seed, config.Span{}
	return cfg, cfg.Validate()
}

// settingsOf are the settings of --set for a row: those of all, and those that name it.
func (r *reproduction) settingsOf(row studies.Row) (settings []string) {
	if r.c == nil {
		return nil
	}
	for _, s := range r.c.StringSlice("set") {
		key, value, _ := strings.Cut(s, "=")
		name, own, named := strings.Cut(key, ":")
		switch {
		case !named:
			settings = append(settings, s)
		case matches(row.Name, []string{name}):
			settings = append(settings, own+"="+value)
		}
	}
	return settings
}

// checkSettings refuses a --set for rows that there are not: it would change nothing.
func (r *reproduction) checkSettings() error {
	for _, s := range r.c.StringSlice("set") {
		key, _, _ := strings.Cut(s, "=")
		name, _, named := strings.Cut(key, ":")
		if named && !slices.ContainsFunc(r.study.RowNames(), func(row string) bool { return matches(row, []string{name}) }) {
			return misused("--set %s: no row of %s has %q in its name; rows: %s", s, r.study.Name, name, strings.Join(r.study.RowNames(), ", "))
		}
	}
	return nil
}

// key tells a cell from every other: its settings, data, noise and measures.
func (r *reproduction) key(cell studies.Cell) (string, error) {
	cfg, err := r.config(cell)
	if err != nil {
		return "", fmt.Errorf("%s: %w", r.describe(cell), err)
	}
	column, row := r.study.Columns[cell.Column], r.study.Rows[cell.Row]
	data := r.data.of(column)
	h := sha256.New()
	fmt.Fprintf(h, "%d\n%s\n%s\n%s\n", cellVersion, data.store.Sum, data.store.Key.Images, manifestSum(data.clean))
	fmt.Fprintf(h, "%s %g %s %d %s\n", column.Noise, column.Rate, row.Labels, cell.Seed, r.study.State)
	fmt.Fprintf(h, "%v %v\n", r.study.Measures, r.traces())
	flat := config.Flatten(cfg)
	for _, key := range slices.Sorted(maps.Keys(flat)) {
		fmt.Fprintf(h, "%s=%s\n", key, flat[key])
	}
	return hex.EncodeToString(h.Sum(nil))[:24], nil
}

// manifestSum is a hash of everything in a manifest that a training or a measurement sees.
func manifestSum(d *datasets.Dataset) string {
	h := sha256.New()
	for _, s := range d.Samples {
		fmt.Fprintf(h, "%q %d %d %s\n", s.Path, s.Label, s.True, s.Split)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// traces are the names of what is recorded while cells train.
func (r *reproduction) traces() []string {
	if r.study.Chart == nil || r.study.Chart.Trace == "" {
		return nil
	}
	return []string{r.study.Chart.Trace, fmt.Sprint(r.study.Chart.At)}
}

// fitBank keeps the memory bank from holding an image several times over: recipes name the papers' sizes, and data may
// be smaller.
func fitBank(cfg *config.Run, data run.Data) {
	cfg.Bank.Size = min(cfg.Bank.Size, data.Train.Len())
}

// cell trains and measures one.
func (r *reproduction) cell(ctx context.Context, cell studies.Cell) (studies.Outcome, error) {
	row, column := r.study.Rows[cell.Row], r.study.Columns[cell.Column]
	data := r.data.of(column)
	o := studies.Outcome{Study: r.study.Name, Row: row.Name, Column: column.Name, Seed: cell.Seed, Data: data.name, Version: version(), Measures: map[string]float64{}}
	cfg, err := r.config(cell)
	if err != nil {
		return o, err
	}
	labels, err := data.as(ctx, row.Labels, column, cell.Seed)
	if err != nil {
		return o, err
	}
	o.NoiseRate = labels.rate
	joined, err := run.Join(labels.data, data.store)
	if err != nil {
		return o, err
	}
	fitBank(&cfg, joined)
	recorder := r.record(labels.data, &o)
	if r.study.State == studies.Last && !recorder.validates() {
		joined.Validation = features.Set{} // nothing depends on it
	}
	start := time.Now()
	out, err := run.Run(ctx, cfg, joined, run.Options{Last: r.study.State == studies.Last, Begun: recorder.begun, Stepped: recorder.stepped, Validated: recorder.validated, Diagnosed: recorder.diagnosed})
	if err != nil {
		return o, err
	}
	o.Measures["seconds"] = time.Since(start).Seconds()
	o.Untrained = r.study.State == studies.Best && out.BestStep == 0
	o.Steps, o.Settings = out.Step, config.Flatten(out.Config)
	o.Inputs = map[string]string{"features": joined.StoreSum, "images": joined.Sum}
	recorder.end()
	if err := r.measure(ctx, &o, out, labels.data, data.store); err != nil {
		return o, err
	}
	o.Seconds = time.Since(start).Seconds()
	return o, nil
}
