package train

import "errors"

// journal writes the facts of a run to the run's folder. It is nil if the run has no folder.
type journal struct {
	*metrics
	diagnostics *lineFile // nil if the run does not diagnose its filter
	every       int       // a step is written every so many steps
	last        int       // the run's last step, which is always written
}

// openJournal opens the files of the run's folder for appending, if it has one.
func (t *Trainer) openJournal() (err error) {
	t.journal = nil
	if t.Dir == "" {
		return nil
	}
	names := make([]string, len(t.Terms))
	for i := range t.Terms {
		names[i] = t.Terms[i].Name
	}
	m, err := openMetrics(t.Dir, t.progress, names, t.Now)
	if err != nil {
		return err
	}
	j := &journal{metrics: m, every: t.LogEvery, last: t.Steps}
	if t.diagnosesFilter() {
		if j.diagnostics, err = t.openDiagnostics(); err != nil {
			return errors.Join(err, m.closeMetrics())
		}
	}
	t.journal = j
	return nil
}

func (j *journal) writeFact(fact any) error {
	switch f := fact.(type) {
	case Step:
		if f.Number%j.every == 0 || f.Number == j.last {
			return j.writeStep(&f)
		}
	case Validation:
		return j.writeValidation(f)
	case Weighing:
		return j.writeRound(f)
	case Diagnosis:
		return j.diagnostics.putLine(f.Step, f)
	}
	return nil
}

// syncJournal flushes all facts to disk, so that they are never older than a checkpoint.
func (j *journal) syncJournal() error {
	if err := j.lines.syncLines(); err != nil || j.diagnostics == nil {
		return err
	}
	return j.diagnostics.syncLines()
}

func (j *journal) closeJournal() error {
	if j.diagnostics == nil {
		return j.metrics.closeMetrics()
	}
	return errors.Join(j.metrics.closeMetrics(), j.diagnostics.closeLines())
}
