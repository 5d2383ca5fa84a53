// Package plan estimates how long a job that many workers share takes, from the rate of one worker, the storage that
// all read from, the bytes that the join copies, and failures, which are drawn from a seed.
package plan

import (
	"container/heap"
	"errors"
	"math"
	"math/rand/v2"
	"time"
)

const (
	// Start is the time of a task before its first image: the engine, the program, reading the manifest.
	Start = time.Minute
	// JoinRate is the assumed rate of a join, in bytes read or written per second on a shared file system. It is low on
	// purpose: a local disk is several times as fast (docs/scale.md).
	JoinRate = 100e6
)

// Join returns the time of a join, which reads and writes all bytes once.
func Join(bytes int64, rate float64) time.Duration { return seconds(2 * float64(bytes) / rate) }

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Job is an extraction shared by equal workers.
type Job struct {
	Images     int
	ImageBytes float64       // of a file, on average
	Tasks      int           // parts, each of equally many images
	Workers    int           // tasks that run at the same time
	Rate       float64       // images per second of one worker
	Storage    float64       // bytes per second of the storage, for all workers together; 0: unlimited
	Between    time.Duration // mean time between failures of one worker; 0: no failures
	Requeue    time.Duration // until a failed task starts again
	Kept       time.Duration // interval at which work is saved: a failure costs half of it on average
	Vector     int           // bytes of an image's vector
	JoinRate   float64       // bytes per second
	Start      time.Duration // of a task
}

// Outcome is the result of a simulated job.
type Outcome struct {
	Extract  time.Duration // until the last part is complete
	Join     time.Duration
	Failures int
	Lost     time.Duration // work and waiting lost to failures, of all workers together
	Bound    string        // what limits the rate: "workers" or "storage"
	Rate     float64       // images per second of all workers together, at most
}

// Wall returns the total time.
func (o Outcome) Wall() time.Duration { return o.Extract + o.Join }

// Draw simulates the job, with failures drawn from the seed.
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

// task returns the seconds that a task occupies its worker, including waits to start again.
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

// ends is a heap of the times at which workers are free.
type ends []float64

func (e ends) Len() int           { return len(e) }
func (e ends) Less(a, b int) bool { return e[a] < e[b] }
func (e ends) Swap(a, b int)      { e[a], e[b] = e[b], e[a] }
func (e *ends) Push(x any)        { *e = append(*e, x.(float64)) }
func (e *ends) Pop() any          { last := (*e)[len(*e)-1]; *e = (*e)[:len(*e)-1]; return last }
