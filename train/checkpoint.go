package train

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"winnow/features"
	"winnow/filters"
	"winnow/filters/selfpaced"
	"winnow/internal/atomicfile"
	"winnow/internal/regular"
)

// CheckpointFile is the name of the checkpoint in a run's folder. The file holds a JSON header and the numbers, both
// encoded with encoding/gob, followed by the SHA-256 of these bytes.
const CheckpointFile = "checkpoint.winnow"

// checkpointFormat changes when older checkpoints cannot be read any more.
const checkpointFormat = 3

// checkpoint holds all state that the next step depends on, except Config. Random sources have no state (see [Rand]).
// A captured checkpoint is a view that shares memory with the weights. It must be written before the next step.
type checkpoint struct {
	checkpointHead
	lists   [][]float32          // the values of learnedParams, followed by the best state
	solvers [][]ParamState       // the solver's memory, for each group
	bank    []features.BankState // at most one entry
}

// checkpointHead is the part of a checkpoint that is stored as JSON, because JSON writes the keys of a map in order.
type checkpointHead struct {
	Format    int               `json:"format"`
	Identity  map[string]string `json:"identity"`
	Progress  Progress          `json:"progress"`
	Filter    *filters.State    `json:"filter"`
	Judged    []judged          `json:"judged,omitempty"` // since the last diagnosis
	SelfPaced *selfpaced.State  `json:"selfpaced,omitempty"`

	Lists   int          `json:"lists"`
	Solvers []solverHead `json:"solvers"`
	Banks   int          `json:"banks"`
}

// solverHead holds a solver's name and the number of parameters for which it keeps a state.
type solverHead struct {
	Name   string `json:"name"`
	Params int    `json:"params"`
}

// captureState returns the current state.
func (t *Trainer) captureState() checkpoint {
	var c checkpoint
	c.Format, c.Identity, c.Progress = checkpointFormat, t.Identity, t.progress
	for _, p := range t.learnedParams() {
		c.lists = append(c.lists, p.Data)
	}
	c.lists = append(c.lists, t.best...)
	for i := range t.groups {
		s := t.groups[i].Solver.State()
		c.solvers = append(c.solvers, s.Params)
		c.Solvers = append(c.Solvers, solverHead{s.Solver, len(s.Params)})
	}
	if t.Bank != nil {
		c.bank = []features.BankState{t.Bank.State()}
	}
	if t.Filter != nil {
		c.Filter, c.Judged = new(t.Filter.State()), t.judged
	}
	if t.SelfPaced != nil {
		c.SelfPaced = new(t.SelfPaced.Weights.State())
	}
	c.Lists, c.Banks = len(c.lists), len(c.bank)
	return c
}

// learnedParams returns the encoder's parameters and state and the losses' parameters.
func (t *Trainer) learnedParams() []*features.Param {
	return slices.Concat(t.params, t.state, t.objective.params)
}

// writeCheckpoint replaces the checkpoint. The old one stays until the new one is complete.
func (t *Trainer) writeCheckpoint() error {
	c := t.captureState()
	var err error
	for i := range t.groups {
		if p := t.groups[i].placed; p != nil {
			err = errors.Join(err, p.err)
		}
	}
	if err == nil {
		err = atomicfile.Write(filepath.Join(t.Dir, CheckpointFile), c.writeState)
	}
	if err != nil {
		return fmt.Errorf("train: %s: step %d: %w", CheckpointFile, t.progress.Step, err)
	}
	return nil
}

// writeState writes the checkpoint's JSON header and then its lists, one at a time.
func (c checkpoint) writeState(w io.Writer) error {
	head, err := json.Marshal(c.checkpointHead)
	if err != nil {
		return err
	}
	sum := sha256.New()
	values := gob.NewEncoder(io.MultiWriter(w, sum))
	err = values.Encode(head)
	for _, list := range c.lists {
		err = errors.Join(err, values.Encode(list))
	}
	for _, s := range slices.Concat(c.solvers...) {
		err = errors.Join(err, values.Encode(s))
	}
	for _, b := range c.bank {
		err = errors.Join(err, values.Encode(b))
	}
	if err != nil {
		return err
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

// readCheckpoint reads a checkpoint file. It verifies the whole file before it uses any part.
func readCheckpoint(path string) (c checkpoint, err error) {
	f, err := regular.Open(path)
	if err != nil {
		return c, fmt.Errorf("train: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return c, fmt.Errorf("train: %w", err)
	}
	body := io.NewSectionReader(f, 0, max(info.Size()-sha256.Size, 0))
	found, expected := sha256.New(), make([]byte, sha256.Size)
	if _, err = io.Copy(found, body); err == nil {
		_, err = f.ReadAt(expected, body.Size())
	}
	switch {
	case err == nil && !bytes.Equal(found.Sum(nil), expected):
		err = errors.New("checksum differs: the file is cut short or damaged")
	case err == nil:
		err = c.readState(io.NewSectionReader(f, 0, body.Size()))
	}
	if err != nil {
		return c, &CheckpointError{Path: path, Err: err}
	}
	return c, nil
}

// readState reads the output of writeState. It does not read the checksum that follows.
func (c *checkpoint) readState(r io.Reader) error {
	values := gob.NewDecoder(bufio.NewReader(r))
	var head []byte
	err := values.Decode(&head)
	if err == nil {
		err = json.Unmarshal(head, &c.checkpointHead)
	}
	if err == nil && c.Format != checkpointFormat {
		err = fmt.Errorf("format is %d, expected %d", c.Format, checkpointFormat)
	}
	if err == nil {
		c.lists, err = decodeValues[[]float32](values, c.Lists)
	}
	for i := 0; err == nil && i < len(c.Solvers); i++ {
		var s []ParamState
		s, err = decodeValues[ParamState](values, c.Solvers[i].Params)
		c.solvers = append(c.solvers, s)
	}
	if err == nil {
		c.bank, err = decodeValues[features.BankState](values, c.Banks)
	}
	return err
}

// decodeValues reads n values.
func decodeValues[T any](from *gob.Decoder, n int) (list []T, err error) {
	for range n {
		var v T
		if err = from.Decode(&v); err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}
