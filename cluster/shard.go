package cluster

import (
	"fmt"
	"strconv"
	"strings"
)

// Shard identifies one part of a job; the zero value means the undivided job.
type Shard struct {
	Index int // 1 … Of
	Of    int // 0: the job is not divided
}

// String returns the shard in the form I/N.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// Whole reports whether the job is not divided.
func (s Shard) Whole() bool { return s.Of == 0 }

// mostShards is the largest number of shards; larger numbers are assumed to be mistakes.
const mostShards = 1 << 20

// taskVariables lists the environment variables with the number of a task: in a Slurm array, numbered from 1, and in an
// Indexed Job of Kubernetes, numbered from 0.
var taskVariables = []struct {
	name  string
	first int
}{{"SLURM_ARRAY_TASK_ID", 1}, {"JOB_COMPLETION_INDEX", 0}}

// Parse parses I/N with 1 ≤ I ≤ N, or auto/N, where I is the task number in a Slurm array or in an Indexed Job of
// Kubernetes.
func Parse(text string, env func(name string) (string, bool)) (Shard, error) {
	first, count, _ := strings.Cut(text, "/")
	add := 0
	if first == "auto" {
		for _, v := range taskVariables {
			if task, set := env(v.name); set {
				first, add = task, 1-v.first
			}
		}
	}
	of, err := strconv.Atoi(count)
	index, wrong := strconv.Atoi(first)
	if index += add; err != nil || wrong != nil || index < 1 || index > of || of > mostShards {
		return Shard{}, fmt.Errorf("found %q, expected I/N with I from 1 to N, for example 2/4, or auto/N in a task "+
			"of a Slurm array numbered 1-N or of an Indexed Job of Kubernetes", text)
	}
	return Shard{Index: index, Of: of}, nil
}

// Range returns the rows of this shard, from first to end-1. Shards consist of whole units of rows and are as equal as
// possible. It is an error if there are more shards than units.
func (s Shard) Range(total, unit int) (first, end int, err error) {
	if s.Whole() {
		return 0, total, nil
	}
	units := (total + unit - 1) / unit
	if s.Of > units {
		return 0, 0, fmt.Errorf("%d rows make at most %d shards, but %d were requested", total, units, s.Of)
	}
	border := func(i int) int { return min(int(int64(units)*int64(i)/int64(s.Of))*unit, total) }
	return border(s.Index - 1), border(s.Index), nil
}
