package cluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"winnow/datasets/location"
	"winnow/internal/hint"
	"winnow/internal/text"
)

// Status is the state of an output's parts, as `winnow cluster status --json` prints it.
type Status struct {
	Out     location.Source `json:"out"`
	Job     string          `json:"job"` // the command; "": unknown until a part is begun
	Parts   int             `json:"parts"`
	Present int             `json:"present"`
	Open    []Task          `json:"open"`   // parts that are missing, begun or torn
	Joined  bool            `json:"joined"` // Out exists
	Next    string          `json:"next"`   // the command to run once no task is at work; "": all is done
}

// Task is a part that is not complete.
type Task struct {
	Shard int    `json:"shard"`
	State State  `json:"state"`
	Why   string `json:"why,omitempty"` // torn: how
}

// WriteStatus writes the state of outputs, and returns an error unless all parts are complete. With verify it reads all
// their bytes.
func WriteStatus(ctx context.Context, w io.Writer, outs []string, verify, asJSON bool) error {
	if len(outs) == 0 {
		return hint.Misused("winnow cluster status takes the --out of commands that machines share")
	}
	var list []Status
	open := 0
	for _, name := range outs {
		s, err := readStatus(ctx, location.At(name), verify)
		if err != nil {
			return hint.With(err, "name the --out of a command that runs with --shard, from the folder that it runs in")
		}
		if list, open = append(list, s), open+len(s.Open); !asJSON {
			if err := s.Write(w); err != nil {
				return err
			}
		}
	}
	if asJSON {
		if err := text.JSON(w, list); err != nil {
			return err
		}
	}
	if open > 0 {
		return fmt.Errorf("cluster: %d parts are missing", open)
	}
	return nil
}

// readStatus returns the state of an output's parts.
func readStatus(ctx context.Context, out location.Source, verify bool) (Status, error) {
	s := Status{Out: Out(out)}
	w, err := lookForParts(ctx, out)
	if err != nil {
		return s, err
	}
	if verify {
		if err := w.Verify(ctx); ctx.Err() != nil {
			return s, err
		} // w.Parts have what it found
	}
	s.Job, s.Parts = w.Job, w.Of
	_, err = s.Out.Stat(ctx)
	s.Joined = err == nil
	for _, p := range w.Parts {
		if p.State == Present {
			s.Present++
		} else {
			s.Open = append(s.Open, Task{p.Shard, p.State, p.Why})
		}
	}
	again := w.listAgain()
	submit := ""
	if !s.Out.IsRemote() {
		submit = filepath.Join(slurmDir(s.Out), "submit.sh")
	}
	switch _, err := os.Stat(submit); {
	case len(again) == 0 && !s.Joined:
		s.Next = "winnow join " + quoteWords(s.Out.String())
	case len(again) == 0:
	case err == nil:
		s.Next = fmt.Sprintf("sh %s %s", quoteWords(submit), formatRanges(again))
	default:
		s.Next = fmt.Sprintf("the same command again with --shard %d/%d and so on, or as tasks %s of an array with "+
			"--shard auto/%d", again[0], s.Parts, formatRanges(again), s.Parts)
	}
	return s, nil
}

// Write writes the status for people.
func (s Status) Write(w io.Writer) error {
	job, joined := "", ""
	if s.Job != "" {
		job = " of winnow " + s.Job
	}
	if s.Joined && len(s.Open) == 0 {
		joined = ", joined"
	} else if s.Joined {
		joined = "; something is at " + s.Out.String() + " already"
	}
	fmt.Fprintf(w, "%s: %d of %d parts%s are there%s\n", s.Out, s.Present, s.Parts, job, joined)
	var rows [][]string
	for _, t := range s.Open {
		rows = append(rows, []string{"  " + strconv.Itoa(t.Shard), string(t.State), text.Line(t.Why)})
	}
	if len(rows) > 0 {
		text.Aligned(w, rows, 0, 1, 2)
	}
	if s.Next == "" {
		return nil
	}
	next := "next: "
	if len(s.Open) > 0 {
		next = "next, once no task is at work: "
	}
	_, err := fmt.Fprintf(w, "%s%s\n", next, s.Next)
	return err
}
