package samples

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
)

// Sample is the record of one training image. Means are over the last part of the training.
type Sample struct {
	Path, Label string
	Visits      int     // visits at which the label was judged, from the first step on
	Right       int     // those at which the given label fitted best
	Forgotten   int     // changes from belief to doubt
	Seen, Kept  int     // visits in the last part, and those that the step learned from
	Score       float64 // mean P of the given label; NaN: never judged in the last part
	// Suggested is the class that fitted the image best most often, if one did at more than half of the visits;
	// "" if none was judged.
	Suggested string
	Loss      float64 // mean own term of the loss; NaN: none in the last part
}

// Names translates the numbers in the record.
type Names struct {
	Path  func(row int) string
	Class func(label int) string
}

// All yields the records of all labelled rows, in order.
func (r *Record) All(names Names) iter.Seq[Sample] {
	return func(yield func(Sample) bool) {
		for row, label := range r.cfg.Labels {
			if label >= 0 && !yield(r.rowSample(row, names)) {
				return
			}
		}
	}
}

func (r *Record) rowSample(row int, names Names) Sample {
	s := Sample{
		Path: names.Path(row), Label: names.Class(r.cfg.Labels[row]),
		Visits: int(r.visits[row]), Right: int(r.right[row]), Forgotten: int(r.forgotten[row]), Seen: int(r.seen[row]),
		Kept:  int(r.kept[row]),
		Score: r.p[row] / float64(r.scored[row]), Loss: r.loss[row] / float64(r.lossed[row]),
	}
	if r.best[row] > 0 {
		s.Suggested = names.Class(int(r.best[row]) - 1)
	}
	return s
}

// header is the first row of the table.
var header = []string{"path", "label", "visits", "right", "forgotten", "seen", "kept", "score", "suggested", "loss"}

// Write writes samples as CSV. Missing numbers are empty cells.
func Write(w io.Writer, list iter.Seq[Sample]) error {
	out := csv.NewWriter(w)
	out.Write(header) // the writer stores the error
	for s := range list {
		out.Write([]string{s.Path, s.Label, strconv.Itoa(s.Visits), strconv.Itoa(s.Right), strconv.Itoa(s.Forgotten),
			strconv.Itoa(s.Seen), strconv.Itoa(s.Kept),
			formatSampleCell(s.Score), s.Suggested, formatSampleCell(s.Loss)})
	}
	out.Flush()
	return out.Error()
}

func formatSampleCell(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Read reads the output of [Write].
func Read(from io.Reader) ([]Sample, error) {
	in := csv.NewReader(from)
	in.FieldsPerRecord = len(header)
	first, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("samples: found an empty file, expected the columns %s", strings.Join(header, ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("samples: %w", err)
	}
	for i, name := range header {
		if first[i] != name {
			return nil, fmt.Errorf("samples: column %d is %q, expected %q", i+1, first[i], name)
		}
	}
	var list []Sample
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("samples: %w", err)
		}
		s, err := parseSample(record)
		if err != nil {
			line, _ := in.FieldPos(0)
			return nil, fmt.Errorf("samples: line %d: %w", line, err)
		}
		list = append(list, s)
	}
}

// parseSample reads one row.
func parseSample(record []string) (Sample, error) {
	s := Sample{Path: record[0], Label: record[1], Suggested: record[8]}
	for i, to := range []*int{&s.Visits, &s.Right, &s.Forgotten, &s.Seen, &s.Kept} {
		n, err := strconv.ParseUint(record[2+i], 10, 32)
		if err != nil {
			return s, fmt.Errorf("%s is %q, expected a whole number", header[2+i], record[2+i])
		}
		*to = int(n)
	}
	for _, number := range []struct {
		at int
		to *float64
	}{{7, &s.Score}, {9, &s.Loss}} {
		text := record[number.at]
		if *number.to = math.NaN(); text == "" {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return s, fmt.Errorf("%s is %q, expected a finite number, or nothing", header[number.at], text)
		}
		*number.to = v
	}
	if !(s.Score >= 0 && s.Score <= 1 || math.IsNaN(s.Score)) {
		return s, fmt.Errorf("score is %v, expected 0 to 1", s.Score)
	}
	if s.Right > s.Visits || s.Forgotten > s.Right || s.Kept > s.Seen {
		return s, fmt.Errorf("%d right and %d forgotten of %d visits, %d kept of %d: a part exceeds the whole", s.Right,
			s.Forgotten, s.Visits, s.Kept, s.Seen)
	}
	return s, nil
}
