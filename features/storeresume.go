package features

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"winnow/internal/regular"
	"winnow/internal/seal"
)

// progress is the content of progress.json: the number of rows of the part that are safely on disk.
type progress struct {
	Version int    `json:"version"`
	Key     Key    `json:"key"`
	Rows    int    `json:"rows"`
	Total   int    `json:"total"`
	Dim     int    `json:"dim"`
	Batch   int    `json:"batch"`
	Device  string `json:"device"`
	Bad     []Bad  `json:"bad"`
}

// beginPart opens the part: after the last recorded batch if there is one, else empty.
func (w *Writer) beginPart(overwrite bool) error {
	header := encodeNPYHeader(w.plan.Key.numpyDescr(), w.plan.Key.matrixShape(len(w.plan.Paths), w.plan.Dim)...)
	w.offset = int64(len(header))
	p, err := readProgress(w.writerPath(progressFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err == nil && p.Rows == 0: // no row was recorded
	case err != nil && !overwrite:
		return &DamageError{Err: fmt.Errorf("features: %s: %w", w.writerPath(progressFile), err)}
	case err == nil:
		why := w.diffPlan(p)
		if why == "" {
			err := w.resumePart(p, header)
			switch {
			case err == nil:
				return nil
			case !overwrite:
				return &DamageError{Err: err}
			}
			w.removePart()
		} else if !overwrite {
			return &KeyError{w.dir, "unfinished store: " + why}
		}
	}
	if w.part, err = regular.OpenOwn(w.writerPath(partFile), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644); err != nil {
		return fmt.Errorf("features: %w", err)
	}
	if _, err := w.part.Write(header); err != nil {
		return fmt.Errorf("features: %w", err)
	}
	return w.Flush()
}

// diffPlan describes why the rows of an unfinished store do not match the plan, or returns "".
func (w *Writer) diffPlan(p progress) string {
	switch why := p.Key.Differs(w.plan.Key); {
	case why != "":
		return why
	case p.Total != len(w.plan.Paths) || p.Dim != w.plan.Dim:
		return fmt.Sprintf("%d×%d values, expected %d×%d", p.Total, p.Dim, len(w.plan.Paths), w.plan.Dim)
	case p.Batch != w.plan.Batch:
		return fmt.Sprintf("made in batches of %d, expected %d", p.Batch, w.plan.Batch)
	case p.Device != w.plan.Device:
		return fmt.Sprintf("made on device %s, expected %s", p.Device, w.plan.Device)
	}
	return ""
}

// resumePart opens the part and truncates it after the rows that are safely on disk.
func (w *Writer) resumePart(p progress, header []byte) (err error) {
	w.rows, w.synced, w.bad, w.at = p.Rows, p.Rows, p.Bad, time.Now()
	w.part, err = regular.OpenOwn(w.writerPath(partFile), os.O_RDWR, 0o644)
	if errors.Is(err, fs.ErrNotExist) && p.Rows == p.Total {
		w.part = nil // Finish was interrupted after the rename and checks the file again
		return nil
	}
	if err != nil {
		return fmt.Errorf("features: %w", err)
	}
	got := make([]byte, len(header))
	if _, err := w.part.ReadAt(got, 0); err != nil || string(got) != string(header) {
		return fmt.Errorf("features: %s: the header does not match %s", w.part.Name(), progressFile)
	}
	end := w.offset + int64(p.Rows)*int64(w.plan.countRowValues()*elementSize[w.plan.Key.numpyDescr()])
	if stat, err := w.part.Stat(); err != nil {
		return fmt.Errorf("features: %w", err)
	} else if stat.Size() < end {
		return fmt.Errorf("features: %s: %d bytes, expected at least %d according to %s", w.part.Name(), stat.Size(),
			end, progressFile)
	}
	if err := w.part.Truncate(end); err != nil {
		return fmt.Errorf("features: %w", err)
	}
	_, err = w.part.Seek(end, 0)
	return err
}

// removePart discards a part that cannot be continued.
func (w *Writer) removePart() {
	if w.part != nil {
		w.part.Close()
	}
	w.part, w.rows, w.synced, w.bad = nil, 0, 0, nil
}

// BegunBatch returns the batch size of an unfinished extraction in dir that has rows on disk, if there is one. The
// extraction can only be continued with this batch size.
func BegunBatch(dir string) (int, bool) {
	p, err := readProgress(filepath.Join(dir, progressFile))
	return p.Batch, err == nil && p.Rows > 0
}

// KeyIn returns the key of the finished or unfinished store in dir, if there is one.
func KeyIn(dir string) (Key, bool) {
	if s, err := Open(dir); err == nil {
		return s.Key, true
	}
	p, err := readProgress(filepath.Join(dir, progressFile))
	return p.Key, err == nil
}

// readProgress reads progress.json.
func readProgress(name string) (progress, error) {
	var p progress
	data, err := regular.ReadFile(name, regular.Most)
	if err != nil {
		return p, err
	}
	if err := seal.Unmarshal(data, &p); err != nil {
		return p, err
	}
	if err := p.Key.checkKey(); err != nil {
		return p, err
	}
	if expected := p.Key.storeVersion(); p.Version != expected {
		return p, fmt.Errorf("store version %d, expected %d", p.Version, expected)
	}
	if p.Rows < 0 || p.Rows > p.Total || p.Dim < 1 || p.Batch < 1 || p.Rows%p.Batch != 0 && p.Rows != p.Total {
		return p, fmt.Errorf("found %d of %d rows in batches of %d, which is impossible", p.Rows, p.Total, p.Batch)
	}
	return p, nil
}
