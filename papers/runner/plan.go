package runner

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"winnow/datasets"
	"winnow/internal/hint"
	"winnow/papers/studies"
	"winnow/run/config"
	"winnow/run/grid"
)

// cellVersion increases when the computation of a cell changes, so that stored cells of an older version are not used.
const cellVersion = 1

// listCells lists the cells seed by seed, so that a run that is stopped early has complete results for fewer seeds.
func (r *reproduction) listCells() error {
	if err := r.checkSettings(); err != nil {
		return err
	}
	if err := r.checkChoices(); err != nil {
		return err
	}
	r.results = studies.NewResults(&r.Study, r.nameData(), r.standIn != nil)
	var columns []int
	var left []string
	seen := map[string]bool{}
	for j, c := range r.Study.Columns {
		of := r.findFirstData(c)
		if of == nil && !r.Study.Drawn() {
			if name := cmp.Or(c.Data, c.Name); matchesAny(c.Name, r.Columns) && !slices.Contains(left, name) {
				left = append(left, name)
			}
			continue
		}
		same := fmt.Sprintf("%s %g %v", c.Noise, c.Rate, c.Set) // without the dataset, which a stand-in replaces
		if !matchesAny(c.Name, r.Columns) || r.standIn != nil && seen[same] {
			continue
		}
		seen[same] = true
		if c.Noise == givenLabels && r.watchesFilter() && of.clean.Noise(datasets.Train).Corrupted == 0 {
			if r.standIn == nil {
				return hint.With(
					fmt.Errorf("reproduce: %s: no label known to be wrong, which comparing filters needs", of.name),
					"make a manifest with known wrong labels: winnow data corrupt")
			}
			r.Host.Note("%s: found no label known to be wrong: the column %s is left out", of.name, c.Name)
			continue
		}
		columns = append(columns, j)
	}
	if len(left) > 0 {
		r.Host.Note("no data for %s: columns that need it are left out", strings.Join(left, ", "))
	}
	matched := false // rows without a training are always run: what training is worth is seen next to them
	for _, seed := range r.listSeeds() {
		for _, j := range columns {
			for i, row := range r.Study.Rows {
				column := r.Study.Columns[j]
				wanted := r.isRowWanted(row)
				if !row.Runs() || slices.Contains(row.Skip, column.Name) || !wanted && row.Untrained == "" ||
					r.findRowData(row, column, seed) == nil && !r.Study.Drawn() {
					continue
				}
				matched = matched || wanted
				choices := len(r.Study.Choices(row))
				for choice := min(choices, 1); choice <= choices; choice++ {
					cell := studies.Cell{Row: i, Column: j, Seed: seed, Choice: choice}
					var err error
					if cell.Key, err = r.hashCell(cell); err != nil {
						return hint.AsMisuse(err) // studies are valid, so a given setting must be invalid
					}
					r.grid.Cells = append(r.grid.Cells, cell)
				}
			}
		}
	}
	if !matched {
		return hint.Misused("reproduce: no cell of %s matches both the rows %q and the columns %q; rows: %s; "+
			"columns: %s", r.Study.Name, r.Rows, r.Columns,
			strings.Join(r.Study.RowNames(), ", "), strings.Join(r.Study.ColumnNames(), ", "))
	}
	return nil
}

// findFirstData returns the data of the first row that has data in a column, or nil.
func (r *reproduction) findFirstData(c studies.Column) *data {
	for _, row := range r.Study.Rows {
		if d := r.findRowData(row, c, r.listSeeds()[0]); d != nil {
			return d
		}
	}
	return nil
}

// isRowWanted reports whether Options.Rows selects a row, or a ratio that is computed from the row.
func (r *reproduction) isRowWanted(row studies.Row) bool {
	texts := r.Rows
	if matchesAny(row.Name, texts) {
		return true
	}
	return slices.ContainsFunc(r.Study.Rows, func(other studies.Row) bool {
		return other.Ratio != nil && matchesAny(other.Name, texts) &&
			(other.Ratio.Of == row.Name || other.Ratio.To == row.Name)
	})
}

// listSeeds returns the seeds of the repetitions.
func (r *reproduction) listSeeds() []uint64 {
	seeds := r.Seeds
	for s := 1; len(r.Seeds) == 0 && s <= r.Study.Seeds; s++ {
		seeds = append(seeds, uint64(s))
	}
	return seeds
}

// nameData describes the study's data for the report.
func (r *reproduction) nameData() string {
	if r.standIn != nil {
		return r.standIn.name
	}
	if r.Study.Drawn() {
		return drawnData
	}
	var names []string
	for _, name := range r.Study.Sources() {
		if data := r.data[name]; data != nil {
			names = append(names, name+": "+data.name)
		}
	}
	return strings.Join(names, "; ")
}

// resolveCellConfig returns the resolved configuration of a cell.
func (r *reproduction) resolveCellConfig(cell studies.Cell) (config.Run, error) {
	row, column := r.Study.Rows[cell.Row], r.Study.Columns[cell.Column]
	recipe, name := config.Recipe{Name: "default"}, row.Recipe
	if r.Finetune != "" && row.Whole != "" {
		name = row.Whole
	}
	if name != "" && name != recipe.Name {
		var err error
		if recipe, err = config.FindRecipe(name); err != nil {
			return config.Run{}, err
		}
	}
	shared := slices.Concat(r.Study.Set, column.Set)
	if row.Untrained != "" { // the study's settings for trainings do not apply
		shared = slices.DeleteFunc(shared, func(s string) bool { return !ofUntrained(s) })
	}
	// A study compares only the methods that it names. Labels are not screened and the bank is not filled before
	// training unless the study's settings request it.
	settings := slices.Concat([]string{"screen=" + config.NoScreen, "bank.fill=false", "checkpoint=50 steps"},
		shared, r.listFinetune(row), row.Set)
	cfg, err := r.readRowConfig(recipe, settings, row, cell.Choice)
	if err != nil {
		return cfg, err
	}
	rate := column.Rate
	if of := r.findRowData(row, column, cell.Seed); of != nil && column.Noise == givenLabels {
		rate = of.clean.Noise(datasets.Train).Rate
	}
	if column.Noise == trueLabels || column.Noise == "" {
		rate = 0
	}
	if column.Says != nil && !(column.Noise == givenLabels && rate > 0) { // else use the rate of known wrong labels
		rate = *column.Says
	}
	if slices.Contains([]string{studies.True, studies.Topline, studies.Oracle}, row.Labels) {
		rate = 0
	}
	settings = slices.Concat(settings, r.settingsOf(row))
	if !slices.ContainsFunc(settings, func(s string) bool { return strings.HasPrefix(s, "filter.rate=") }) {
		cfg.Filter.Rate = config.GivenRate(rate)
	}
	if cfg.HasPeers() {
		cfg.Peers.Rate = cfg.Filter.Rate
	}
	if !slices.ContainsFunc(settings, func(s string) bool { return strings.HasPrefix(s, "losses") }) {
		setNoiseRate(&cfg, rate)
	}
	cfg.Seed = cell.Seed
	return cfg, cfg.Validate()
}

// setNoiseRate sets the column's noise rate in losses that need a rate: τ of SCL-RHE (004).
func setNoiseRate(cfg *config.Run, rate float64) {
	for i, l := range cfg.Losses {
		if l.Name == "scl_rhe" && rate > 0 {
			cfg.Losses[i].Settings = maps.Clone(l.Settings)
			cfg.Losses[i].Settings["tau"] = rate
		}
	}
}

// settingsOf returns the given settings that apply to a row: settings for all rows, and settings that name the row.
func (r *reproduction) settingsOf(row studies.Row) (settings []string) {
	for _, s := range r.Set {
		key, value, _ := strings.Cut(s, "=")
		name, own, named := strings.Cut(key, ":")
		switch {
		case row.Untrained != "" && !ofUntrained(key):
		case !named:
			settings = append(settings, s)
		case matchesAny(row.Name, []string{name}):
			settings = append(settings, own+"="+value)
		}
	}
	return settings
}

// ofUntrained reports whether a setting for all rows also applies to rows without a training, which have neither
// batches nor losses.
func ofUntrained(setting string) bool {
	key, _, _ := strings.Cut(setting, "=")
	return strings.HasPrefix(key, "head.") || strings.HasPrefix(key, "validation.") || strings.Contains(key, ":")
}

// checkSettings returns an error for a setting that names a row that does not exist, because it would have no effect.
func (r *reproduction) checkSettings() error {
	for _, s := range r.Set {
		key, _, _ := strings.Cut(s, "=")
		name, _, named := strings.Cut(key, ":")
		rows := r.Study.RowNames()
		if named && !slices.ContainsFunc(rows, func(row string) bool { return matchesAny(row, []string{name}) }) {
			return hint.Misused("setting %s: no row of %s has %q in its name; rows: %s",
				s, r.Study.Name, name, strings.Join(rows, ", "))
		}
	}
	return nil
}

// hashCell returns a hash of a cell's settings, data, noise and measures. The hash identifies the cell.
func (r *reproduction) hashCell(cell studies.Cell) (string, error) {
	if r.Study.Drawn() {
		return r.hashDrawn(cell)
	}
	cfg, err := r.resolveCellConfig(cell)
	if err != nil {
		return "", fmt.Errorf("%s: %w", r.describeCell(cell), err)
	}
	column, row := r.Study.Columns[cell.Column], r.Study.Rows[cell.Row]
	data := r.findRowData(row, column, cell.Seed)
	h := sha256.New()
	fmt.Fprintf(h, "%d\n%s\n%s\n%s\n", cellVersion, data.store.Sum, data.store.Key.Images, manifestSum(data.clean))
	fmt.Fprintf(h, "%s %g %s %d %s\n", column.Noise, column.Rate, row.Labels, cell.Seed, r.Study.State)
	fmt.Fprintf(h, "%v %v\n", r.Study.Measures, r.traceNames())
	if row.Judge+row.Untrained != "" {
		fmt.Fprintf(h, "%s %s \n", row.Judge, row.Untrained)
	}
	if cell.Choice > 0 {
		fmt.Fprintln(h, "validated")
	}
	if r.timesSteps() { // times depend on the machine and on the version of winnow
		_, threads := grid.Share(1, r.Threads)
		fmt.Fprintln(h, threads, r.Winnow)
	}
	cfg.Checkpoint = config.Span{} // checkpoints do not change the outcome
	flat := config.Flatten(cfg)
	if cfg.Sampler.Views <= 1 { // omitted to keep the keys of cells that older versions stored
		delete(flat, "sampler.views")
	}
	for _, key := range slices.Sorted(maps.Keys(flat)) {
		fmt.Fprintf(h, "%s=%s\n", key, flat[key])
	}
	return hex.EncodeToString(h.Sum(nil))[:24], nil
}

// manifestSum returns a hash of the parts of a manifest that trainings and measurements use.
func manifestSum(d *datasets.Dataset) string {
	h := sha256.New()
	for _, s := range d.Samples {
		fmt.Fprintf(h, "%q %d %d %s\n", s.Path, s.Label, s.True, s.Split)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// traceNames returns the names of the traces that are recorded while cells train.
func (r *reproduction) traceNames() []string {
	if r.Study.Chart == nil || r.Study.Chart.Trace == "" {
		return nil
	}
	if r.watchesFilter() {
		return []string{"filter", fmt.Sprint(r.Study.Chart.At)}
	}
	return []string{r.Study.Chart.Trace, fmt.Sprint(r.Study.Chart.At)}
}

// findNames returns texts that are each part of a name. A text with commas is split at the commas unless the whole text
// is part of a name. A text that is part of no name is an error.
func findNames(what, study string, texts, names []string) (list []string, err error) {
	known := func(text string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return matchesAny(name, []string{text}) })
	}
	for _, text := range texts {
		parts := []string{text}
		if !known(text) {
			parts = strings.Split(text, ",")
		}
		for _, part := range parts {
			if part = strings.TrimSpace(part); part == "" || !known(part) {
				return nil, hint.Misused("reproduce: found the %s %q, expected part of a name, or several separated "+
					"by commas; %s has the %ss %s", what, part, study, what, strings.Join(names, ", "))
			}
			list = append(list, part)
		}
	}
	return list, nil
}

// matchesAny reports whether a name contains a text or, for a text =NAME, equals NAME. Without texts all names match.
func matchesAny(name string, texts []string) bool {
	return len(texts) == 0 || slices.ContainsFunc(texts, func(t string) bool {
		whole, exact := strings.CutPrefix(t, "=")
		return exact && strings.EqualFold(name, whole) || strings.Contains(strings.ToLower(name), strings.ToLower(t))
	})
}
