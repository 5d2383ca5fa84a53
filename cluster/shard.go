package cluster

import (
	"fmt"
	"strconv"
	"strings"
)

// Shard is one part of a job; the zero value is the whole.
type Shard struct {
	Index int    // 1 … Of
	Of    int    // 0: the job is not divided
	By    string // variable that held the index; "": the user wrote it
}

// String returns the shard as a user writes it.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// Whole reports whether the job is not divided.
func (s Shard) Whole() bool { return s.Of == 0 }

// Note describes a shard found in the environment; otherwise it returns "".
func (s Shard) Note() string {
	if s.By == "" {
		return ""
	}
	return fmt.Sprintf("shard %v, by %s", s, s.By)
}

// Auto stands for the shard found in the environment.
const Auto = "auto"

// mostShards is the largest number of shards: more is a mistake.
const mostShards = 1 << 20

// Parse reads I/N with 1 ≤ I ≤ N, auto, or auto/N. For auto it reads the variables that a Slurm array, an array job
// of AWS Batch or an Indexed Job of Kubernetes sets in its tasks. N is needed if the engine does not set it
// (Kubernetes), or if only some tasks of an array run again (Slurm); then the task's number is the index, so the
// array must be numbered 1-N.
func Parse(text string, env func(name string) (string, bool)) (Shard, error) {
	first, count, counted := strings.Cut(text, "/")
	of := 0
	if counted {
		var err error
		if of, err = strconv.Atoi(count); err != nil || of < 1 || of > mostShards {
			return Shard{}, shardTextError(text)
		}
	}
	if first == Auto {
		return shardFromEnv(of, env)
	}
	index, err := strconv.Atoi(first)
	if err != nil || !counted || index < 1 || index > of {
		return Shard{}, shardTextError(text)
	}
	return Shard{Index: index, Of: of}, nil
}

func shardTextError(text string) error {
	return fmt.Errorf("found %q, expected I/N with I from 1 to N, for example 2/4, or auto or auto/N in a task of "+
		"Slurm, Kubernetes or AWS Batch", text)
}

// Variables that engines set in their tasks.
const (
	slurmID      = "SLURM_ARRAY_TASK_ID"
	slurmCount   = "SLURM_ARRAY_TASK_COUNT"
	slurmMin     = "SLURM_ARRAY_TASK_MIN"
	slurmStep    = "SLURM_ARRAY_TASK_STEP"
	batchIndex   = "AWS_BATCH_JOB_ARRAY_INDEX"
	batchSize    = "AWS_BATCH_JOB_ARRAY_SIZE"
	kubernetesID = "JOB_COMPLETION_INDEX"
)

// shardFromEnv reads the shard from the environment. of is 0 if the user gave no count.
func shardFromEnv(of int, env func(string) (string, bool)) (Shard, error) {
	for _, engine := range []struct {
		id   string
		read func(of int, v variables) (index, count int, err error)
	}{{slurmID, shardOfSlurm}, {batchIndex, awsBatch}, {kubernetesID, shardOfKubernetes}} {
		if _, set := env(engine.id); !set {
			continue
		}
		index, count, err := engine.read(of, env)
		if err != nil {
			return Shard{}, err
		}
		if count < 1 || count > mostShards || index < 1 || index > count {
			value, _ := env(engine.id)
			return Shard{}, fmt.Errorf("%s=%s is task %d of %d, expected one from 1 to %d: write %s/N with N the "+
				"number of all tasks, numbered from 1", engine.id, value, index, count, count, Auto)
		}
		return Shard{Index: index, Of: count, By: engine.id}, nil
	}
	return Shard{}, fmt.Errorf("%s found none of %s, %s, %s: is this a task of an array? outside of one write I/N",
		Auto, slurmID, batchIndex, kubernetesID)
}

// variables are those of the environment.
type variables func(name string) (string, bool)

// readEnvNumber reads a variable. It returns otherwise if the variable is not set.
func (v variables) readEnvNumber(name string, otherwise int) (int, error) {
	text, set := v(name)
	if !set {
		return otherwise, nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 0 || n > 1<<31-2 {
		return 0, fmt.Errorf("%s is %q, expected a whole number: write I/N instead of %s", name, text, Auto)
	}
	return n, nil
}

func shardOfSlurm(of int, v variables) (index, count int, err error) {
	var n [4]int
	for i, name := range []string{slurmID, slurmCount, slurmMin, slurmStep} {
		if n[i], err = v.readEnvNumber(name, []int{0, 0, 1, 1}[i]); err != nil {
			return 0, 0, err
		}
	}
	id, told, least, step := n[0], n[1], n[2], max(n[3], 1)
	switch {
	case of != 0 && of != told: // some tasks of an array, run again
		return id, of, nil
	case told == 0:
		return 0, 0, fmt.Errorf("%s is not set: write %s/N with N the number of all tasks", slurmCount, Auto)
	case of == 0 && told == 1 && least > 1:
		return 0, 0, fmt.Errorf("%s is 1 and %s is %d: one task of an array, run again? write %s/N with N the "+
			"number of all tasks", slurmCount, slurmID, id, Auto)
	case id < least || (id-least)%step != 0:
		return 0, 0, fmt.Errorf("%s is %d, expected one of %d, %d, …: write %s/N with an array of 1-N", slurmID, id,
			least, least+step, Auto)
	}
	return (id-least)/step + 1, told, nil
}

func awsBatch(of int, v variables) (index, count int, err error) {
	index, err = v.readEnvNumber(batchIndex, 0)
	if err != nil {
		return 0, 0, err
	}
	if count, err = v.readEnvNumber(batchSize, 0); err != nil {
		return 0, 0, err
	}
	switch {
	case count == 0 && of == 0:
		return 0, 0, fmt.Errorf("%s is not set: write %s/N with N the size of the array", batchSize, Auto)
	case count != 0 && of != 0 && count != of:
		return 0, 0, fmt.Errorf("%s is %d, asked for %s/%d: write %s alone, or submit an array of %d", batchSize,
			count, Auto, of, Auto, of)
	}
	return index + 1, max(count, of), nil
}

func shardOfKubernetes(of int, v variables) (index, count int, err error) {
	if index, err = v.readEnvNumber(kubernetesID, 0); err != nil {
		return 0, 0, err
	}
	if of == 0 {
		return 0, 0, fmt.Errorf("%s is set, but Kubernetes tells a task no count: write %s/N with N the "+
			"completions of the Job", kubernetesID, Auto)
	}
	return index + 1, of, nil
}

// Range returns the rows of this shard, from first to before end. Shards consist of whole units of rows and are as
// equal as possible. More shards than units are an error.
func (s Shard) Range(total, unit int) (first, end int, err error) {
	if s.Whole() {
		return 0, total, nil
	}
	units := (total + unit - 1) / unit
	if s.Of > units {
		return 0, 0, fmt.Errorf("%d rows make at most %d shards, asked for %d", total, units, s.Of)
	}
	border := func(i int) int { return min(int(int64(units)*int64(i)/int64(s.Of))*unit, total) }
	return border(s.Index - 1), border(s.Index), nil
}
