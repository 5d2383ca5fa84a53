// Package plan says how long a job that many workers share takes: rates of one worker, what all draw from one storage, what a join
// copies, and machines that fail. Times are computed, not waited for; failures are drawn by a seed.
package plan

import (
	"container/heap"
	"errors"
	"math"
	"math/rand/v2"
	"time"
)

const (
	// Start is how long a task takes before its first image: the engine, the program, reading the manifest.
	Start = time.Minute
	// JoinRate is how many bytes a second a join is taken to read or write on a file system that machines share. It is assumed,
	// low on purpose: a local disk does several times as much (docs/scale.md).
	JoinRate = 100e6
)

// Join is how long it takes to put parts together: they are read and written once.
func Join(bytes int64, rate float64) time.Duration { return seconds(2 * float64(bytes) / rate) }

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Job is an extraction shared by equal workers.
type Job struct {
	Images     int
	ImageBytes float64       // of a file, on average
	Tasks      int           // parts, of equally many images
	Workers    int           // that run at the same time
	Rate       float64       // images a second that one worker computes
	Storage    float64       // bytes a second that the storage gives to all workers together; 0: as much as they take
	Between    time.Duration // between two failures of one worker, on average; 0: none
	Requeue    time.Duration // until a failed task starts again
	Kept       time.Duration // work is kept so often: a failure costs half of it on average
	Vector     int           // bytes that an image leaves
	JoinRate   float64       // bytes a second
	Start      time.Duration // of a task
}

// Outcome is how a job went.
type Outcome struct {
	Extract  time.Duration // until the last part is there
	Join     time.Duration
	Failures int
	Lost     time.Duration // work and waiting that failures cost, of all workers together
	Bound    string        // what limits the rate: "workers" or "storage"
	Rate     float64       // images a second that all workers together make at most
}

// Wall is how long all takes.
func (o Outcome) Wall() time.Duration { return o.Extract + o.Join }

// Draw runs the job, its failures drawn by the seed.
func (j Job) Draw(seed uint64) (Outcome, error) {
	if j.Images < 1 || j.Tasks < 1 || j.Workers < 1 || j.Rate <= 0 || j.JoinRate <= 0 {
		return Outcome{}, errors.New("plan: images, tasks, workers and rates must be above 0")
	}
	rate, bound := j.Rate, "workers"
	busy := float64(min(j.Workers, j.Tasks))
	if j.Storage > 0 && j.ImageBytes*rate*busy > j.Storage {
		rate, bound = j.Storage/j.ImageBytes/busy, "storage"
	}
	o := Outcome{Bound: bound, Rate: rate * busy, Join: Join(int64(j.Images)*int64(j.Vector), j.JoinRate)}
	random := rand.New(rand.NewPCG(seed, 1))
	free := make(ends, min(j.Workers, j.Tasks)) // when each worker is free
	for task := range j.Tasks {
		images := j.Images*(task+1)/j.Tasks - j.Images*task/j.Tasks
		at := free[0]
		took := j.task(float64(images)/rate, random, &o)
		free[0] = at + took
		heap.Fix(&free, 0)
		o.Extract = max(o.Extract, seconds(at+took))
	}
	return o, nil
}

// task returns the seconds that a task takes on its worker, with those in which it waits to start again.
func (j Job) task(work float64, random *rand.Rand, o *Outcome) (took float64) {
	for {
		start := j.Start.Seconds()
		fails := math.Inf(1)
		if j.Between > 0 {
			fails = random.ExpFloat64() * j.Between.Seconds()
		}
		if fails >= start+work {
			return took + start + work
		}
		done := max(fails-start, 0)
		if kept := j.Kept.Seconds(); kept > 0 {
			done = math.Floor(done/kept) * kept
		}
		o.Failures++
		o.Lost += seconds(fails - done + j.Requeue.Seconds())
		took += fails + j.Requeue.Seconds()
		work -= done
	}
}

// ends is a heap of times.
type ends []float64

func (e ends) Len() int           { return len(e) }
func (e ends) Less(a, b int) bool { return e[a] < e[b] }
func (e ends) Swap(a, b int)      { e[a], e[b] = e[b], e[a] }
func (e *ends) Push(x any)        { *e = append(*e, x.(float64)) }
func (e *ends) Pop() any          { last := (*e)[len(*e)-1]; *e = (*e)[:len(*e)-1]; return last }
