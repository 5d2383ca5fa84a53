// Package bench calls the winnow program as a user would, for all experiments, and keeps what it prints in a
// table that grows, so that an experiment can be stopped and started again.
package bench

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Program is the winnow program.
type Program struct{ Path, Threads string }

// Call runs the program and returns what it printed.
func (p Program) Call(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, p.Path, append([]string{"--quiet", "--threads", p.Threads}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, errs.String())
	}
	return out.Bytes(), nil
}

// Score is retrieval in two numbers.
type Score struct {
	P1  float64 `json:"precision_at_1"`
	MAP float64 `json:"map_at_r"`
}

// Measured is the last state of a run, beside untrained features.
type Measured struct {
	Score
	Frozen   Score `json:"frozen"`
	Whitened Score `json:"whitened"`
}

// Eval measures the last state of a run on the test split; more are further flags.
func (p Program) Eval(ctx context.Context, run string, more ...string) (m Measured, err error) {
	text, err := p.Call(ctx, append([]string{"eval", run, "--last", "--split", "test", "--json"}, more...)...)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("eval --json: %w", err)
	}
	return m, nil
}

// ReadTable reads a CSV file by its header; [fs.ErrNotExist] where there is none. Row i stands in the file's line i+2 if
// no field holds a line break.
func ReadTable(path string) ([]map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(records) == 0 {
		return nil, nil
	}
	var rows []map[string]string
	for _, rec := range records[1:] {
		m := map[string]string{}
		for i, name := range records[0] {
			m[name] = rec[i]
		}
		rows = append(rows, m)
	}
	return rows, nil
}

// AppendRow puts a row behind a CSV file's others, and the columns before the first.
func AppendRow(path string, columns, record []string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	if info, err := f.Stat(); err == nil && info.Size() == 0 {
		w.Write(columns) // the error is told by Error
	}
	w.Write(record)
	w.Flush()
	return errors.Join(w.Error(), f.Close())
}
