package grid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"winnow/backbone/ort"
	"winnow/internal/budget"
	"winnow/run"
)

// Auto stands for the number of jobs that are fastest together, found by timing some steps of trainings of networks.
const Auto = -1

// ParseJobs parses a number of jobs: 1 or more, or auto. For "" it returns 0, the default.
func ParseJobs(given string) (int, error) {
	switch given {
	case "":
		return 0, nil
	case "auto":
		return Auto, nil
	}
	n, err := strconv.Atoi(given)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("found %q, expected 1 or more, or auto", given)
	}
	return n, nil
}

// Share returns the number of cells at once, and the number of threads of each. jobs 0 means one job per thread.
// threads is the total number; 0 means one per core.
func Share(jobs, threads int) (atOnce, each int) {
	all := cmp.Or(threads, runtime.GOMAXPROCS(0))
	if jobs < 1 || jobs > all {
		jobs = all
	}
	return jobs, max(all/jobs, 1)
}

// Machine holds the settings of the machine that all trainings share.
type Machine struct {
	Jobs    int // number of trainings at once; 0: Usual on a CPU, [Auto] on a GPU
	Usual   int // 0: one per thread
	Threads int // number of threads of all jobs together; 0: one per core
	Open    func(threads int) (*ort.Runtime, error)
	Note    func(format string, args ...any)
}

// startRuntime opens the runtime, and returns the number of trainings to run at once. networks is the number of
// trainings that train a network; resolve resolves one of them.
func (m Machine) startRuntime(ctx context.Context, networks int, resolve func(*ort.Runtime) (*run.Training, error)) (
	*ort.Runtime, int, error) {
	jobs := m.Jobs
	if jobs == 0 {
		jobs = m.Usual
	}
	jobs, threads := Share(jobs, m.Threads)
	rt, err := m.Open(threads)
	if err != nil || m.Jobs > 0 || m.Jobs == 0 && !rt.Device().CUDA || networks < 2 {
		return rt, jobs, err
	}
	most, _ := Share(0, m.Threads)
	paces, err := timeTogether(ctx, min(most, networks), func(n int, full func()) (float64, error) {
		if err := rt.Close(); err != nil {
			return 0, err
		}
		_, threads := Share(n, m.Threads)
		if rt, err = m.Open(threads); err != nil {
			return 0, err
		}
		return measureSpeed(ctx, n, full, func() (*run.Training, error) { return resolve(rt) })
	})
	if err = errors.Join(err, rt.Close()); err != nil {
		return nil, 0, err
	}
	m.Note("jobs auto: %s", paces)
	jobs, threads = Share(paces.chooseBestPace(), m.Threads)
	rt, err = m.Open(threads)
	return rt, jobs, err
}

// pace is the measured speed of trainings at once.
type pace struct {
	Trainings int     // number of trainings at once
	Steps     float64 // steps per second of all trainings together
	Failed    error   // why so many trainings cannot run at once; nil: they can
}

type paces []pace

// String returns the choice and its reason: "2 at once (1 makes 5 steps a second, 2 make 8.1, 4 make 8.3)".
func (p paces) String() string {
	var list []string
	for _, at := range p {
		switch {
		case at.Failed != nil:
			list = append(list, fmt.Sprintf("%d: %v", at.Trainings, at.Failed))
		case len(list) == 0:
			list = append(list, fmt.Sprintf("1 makes %.3g steps a second", at.Steps))
		default:
			list = append(list, fmt.Sprintf("%d make %.3g", at.Trainings, at.Steps))
		}
	}
	return fmt.Sprintf("%d at once (%s)", p.chooseBestPace(), strings.Join(list, ", "))
}

// chooseBestPace returns the largest number of trainings at once that is worth its memory.
func (p paces) chooseBestPace() int {
	best := pace{Trainings: 1}
	for _, at := range p {
		if at.Failed == nil && at.Steps >= worthwhile*best.Steps {
			best = at
		}
	}
	return best.Trainings
}

// worthwhile is the factor by which more trainings at once must be faster.
const worthwhile = 1.1

var errNoRoom = errors.New("too little memory is left")

// timeTogether times 1, 2, 4, … trainings at once, up to most. It stops if the double number is hardly faster, fails,
// or would not fit into the memory left. time returns the steps per second of n trainings together, and calls full
// while all of them are in memory.
func timeTogether(ctx context.Context, most int, time func(n int, full func()) (float64, error)) (list paces,
	err error) {
	for n := 1; ; n = min(2*n, most) {
		free, known := budget.Available()
		left := free
		steps, err := time(n, func() { left, _ = budget.Available() })
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		list = append(list, pace{n, steps, err})
		if err != nil || n == most || n > 1 && steps < worthwhile*list[len(list)-2].Steps {
			return list, nil
		}
		next := min(2*n, most)
		if known && float64(free-left)/float64(n)*float64(next) > float64(free) {
			return append(list, pace{Trainings: next, Failed: errNoRoom}), nil
		}
	}
}

// measureSpeed resolves n equal trainings, times some of their steps in parallel, and returns their total number of
// steps per second. It calls full before it closes them.
func measureSpeed(ctx context.Context, n int, full func(), resolve func() (*run.Training, error)) (float64, error) {
	each := make([]float64, n)
	g, within := errgroup.WithContext(ctx)
	var list []*run.Training
	for range n {
		t, err := resolve()
		if err != nil {
			return 0, err
		}
		defer t.Close()
		list = append(list, t)
	}
	for i, t := range list {
		g.Go(func() error {
			pace, err := t.Pace(within)
			each[i] = pace.Seconds()
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	full()
	sum := 0.0
	for _, seconds := range each {
		sum += 1 / seconds
	}
	return sum, nil
}
