package live

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"winnow/report"
	"winnow/report/chart"
	"winnow/run/folder"
	"winnow/train"
)

// State says where a training stands.
type State string

// The states of a training.
const (
	Preparing State = "preparing" // its folder holds nothing yet
	Running   State = "running"
	Finished  State = "finished"
	Stopped   State = "stopped" // it can go on
	Failed    State = "failed"  // it ended before its first checkpoint
)

// watched is a run that is shown.
type watched struct {
	dir, key string
	c        *Config

	mutex  sync.Mutex
	course *report.Course // nil: not read yet
	first  *look          // of the training that is at work now; nil: none
}

// look is the step that a training had reached at a time.
type look struct {
	step int
	at   time.Time
}

// brief is a run in the list.
type brief struct {
	Key        string    `json:"key"`
	Name       string    `json:"name"`
	Dir        string    `json:"dir"`
	State      State     `json:"state"`
	Started    time.Time `json:"started"`
	Step       int       `json:"step"`
	Steps      int       `json:"steps"`
	Epoch      int       `json:"epoch"`
	Epochs     int       `json:"epochs"`
	Measure    string    `json:"measure"`
	Validation *float64  `json:"validation"` // the last; of a finished run that of the state that is kept
	Frozen     *float64  `json:"frozen"`
	Whitened   *float64  `json:"whitened"`
	Verdict    string    `json:"verdict"`
	Error      string    `json:"error"` // why it cannot be shown; "": it can
}

// drawing is a curve, as markup without styles.
type drawing struct {
	Title string `json:"title"`
	SVG   string `json:"svg"`
}

// view is how a run goes.
type view struct {
	brief
	Best      *float64  `json:"best"`
	BestEpoch int       `json:"best_epoch"`
	Kept      *float64  `json:"kept"`
	Loss      *float64  `json:"loss"` // smoothed
	PerPair   bool      `json:"per_pair"`
	LossNote  string    `json:"loss_note"`
	Left      *float64  `json:"left"`     // seconds; null: not known yet
	Patience  bool      `json:"patience"` // it may end earlier
	Screened  string    `json:"screened"` // what was left out before the training
	First     []drawing `json:"first"`
	Others    []drawing `json:"others"`
	Worse     bool      `json:"worse"` // training was worth nothing, by validation
	Took      float64   `json:"took"`  // seconds; 0: not finished
	Head      string    `json:"head"`
}

// readNewSteps reads what is new. w.mutex is held. It returns nil if the training has not begun.
func (w *watched) readNewSteps() (c *report.Course, err error) {
	if w.course == nil {
		c, err = report.OpenCourse(w.dir)
	} else {
		c, err = w.course, w.course.Read()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.course = nil
		return nil, nil
	case err != nil:
		return nil, err
	}
	w.course = c
	return c, nil
}

// judgeTrainingState says where the training stands.
func (w *watched) judgeTrainingState(c *report.Course) State {
	switch {
	case c == nil:
		return Preparing
	case c.Result != nil:
		return Finished
	case folder.Busy(w.dir):
		return Running
	}
	if _, err := os.Stat(filepath.Join(w.dir, train.CheckpointFile)); err == nil {
		return Stopped
	}
	return Failed
}

// describeBriefly describes the run for the list.
func (w *watched) describeBriefly() brief {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	b, _ := w.readStanding()
	return b
}

// readStanding reads the run and says where it stands. w.mutex is held.
func (w *watched) readStanding() (brief, report.Standing) {
	b := brief{Key: w.key, Name: filepath.Base(filepath.Clean(w.dir)), Dir: w.dir}
	c, err := w.readNewSteps()
	if err != nil {
		b.State, b.Error = Failed, err.Error()
		return b, report.Standing{}
	}
	if b.State = w.judgeTrainingState(c); c == nil {
		return b, report.Standing{}
	}
	s := c.Standing()
	b.Started, b.Step, b.Steps, b.Epoch, b.Epochs = c.Facts.Started, s.Step, s.Steps, s.Epoch, s.Epochs
	b.Measure, b.Validation, b.Frozen, b.Whitened = s.Measure, s.Validation, s.Frozen, s.Whitened
	if r := c.Result; r != nil {
		b.Verdict = r.Verdict
		if s.Best != nil {
			b.Validation = s.Best
		}
	}
	w.noteFirstStep(b)
	return b, s
}

// noteFirstStep remembers the first step that was seen of a training at work, from which its pace is known.
func (w *watched) noteFirstStep(b brief) {
	switch {
	case b.State != Running:
		w.first = nil
	case w.first == nil || b.Step < w.first.step:
		w.first = &look{b.Step, w.c.Now()}
	}
}

// estimateSecondsLeft returns the seconds that a training will take at its pace so far; nil: not known yet.
func (w *watched) estimateSecondsLeft(b brief) *float64 {
	if w.first == nil || b.Step <= w.first.step {
		return nil
	}
	took := w.c.Now().Sub(w.first.at).Seconds()
	left := took / float64(b.Step-w.first.step) * float64(b.Steps-b.Step)
	return &left
}

// describeRun describes how the run goes.
func (w *watched) describeRun() view {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	b, s := w.readStanding()
	v := view{brief: b, First: []drawing{}, Others: []drawing{}}
	if c := w.course; c != nil && b.Error == "" {
		v.Best, v.BestEpoch, v.Kept, v.Loss, v.PerPair = s.Best, s.BestEpoch, s.Kept, s.PairLoss, s.PerPair
		v.LossNote, v.Left, v.Patience = c.LossNote(), w.estimateSecondsLeft(b), c.Settings.Validation.Patience > 0
		if c.Facts.Screening != nil {
			v.Screened = c.Facts.Screening.String()
		}
		first, others := c.Charts()
		v.First, v.Others = drawCharts(first), drawCharts(others)
		if r := c.Result; r != nil {
			v.Took, v.Head = r.Seconds, r.Head
			v.Worse = r.Better != nil && !*r.Better
		}
	}
	return v
}

func drawCharts(charts []chart.Drawing) []drawing {
	list := []drawing{}
	for _, d := range charts {
		list = append(list, drawing{d.Caption(), chart.Bare(d)})
	}
	return list
}
