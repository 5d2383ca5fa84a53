package train

import "errors"

// journal records the facts of a run.
type journal interface {
	step(*Step) error
	validated(Validation) error
	weighed(Weighing) error
	diagnosed(Diagnosis) error
	sync() error // called before a checkpoint, which must not be newer than the facts on disk
	sums() map[string]lineSum
	close() error
}

// openJournal opens the files of the run's folder for appending, if it has one.
func (t *Trainer) openJournal() (journal, error) {
	if t.Dir == "" {
		return unkept{}, nil
	}
	names := make([]string, len(t.Terms))
	for i := range t.Terms {
		names[i] = t.Terms[i].Name
	}
	m, err := openMetrics(t.Dir, t.progress, names, t.Now)
	if err != nil {
		return nil, err
	}
	k := &kept{metrics: m}
	if !t.diagnoses() {
		return k, nil
	}
	if k.diagnostics, err = t.openDiagnostics(); err != nil {
		return nil, errors.Join(err, m.close())
	}
	return k, nil
}

// kept is the journal of a run with a folder.
type kept struct {
	*metrics
	diagnostics *lineFile // nil if the run does not diagnose its filter
}

func (k *kept) diagnosed(d Diagnosis) error { return k.diagnostics.put(d.Step, d) }

func (k *kept) sync() error {
	if err := k.lines.sync(); err != nil || k.diagnostics == nil {
		return err
	}
	return k.diagnostics.sync()
}

func (k *kept) sums() map[string]lineSum {
	sums := map[string]lineSum{MetricsFile: k.lines.sum}
	if k.diagnostics != nil {
		sums[DiagnosticsFile] = k.diagnostics.sum
	}
	return sums
}

func (k *kept) close() error {
	if k.diagnostics == nil {
		return k.metrics.close()
	}
	return errors.Join(k.metrics.close(), k.diagnostics.close())
}

// unkept is the journal of a run without a folder.
type unkept struct{}

func (unkept) step(*Step) error           { return nil }
func (unkept) validated(Validation) error { return nil }
func (unkept) weighed(Weighing) error     { return nil }
func (unkept) diagnosed(Diagnosis) error  { return nil }
func (unkept) sync() error                { return nil }
func (unkept) sums() map[string]lineSum   { return nil }
func (unkept) close() error               { return nil }
