package cluster

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		text, env string
		want      Shard
		err       string
	}{
		"given":              {text: "2/4", want: Shard{2, 4, ""}},
		"given beside slurm": {text: "2/4", env: "SLURM_ARRAY_TASK_ID=3", want: Shard{2, 4, ""}},
		"zero":               {text: "0/4", err: "expected I/N"},
		"beyond":             {text: "5/4", err: "expected I/N"},
		"no count":           {text: "5", err: "expected I/N"},
		"words":              {text: "a/b", err: "expected I/N"},
		"nothing":            {text: "", err: "expected I/N"},
		"many":               {text: "1/9999999999", err: "expected I/N"},
		"auto of zero":       {text: "auto/0", err: "expected I/N"},
		"automatic":          {text: "automatic", err: "expected I/N"},
		"no engine":          {text: "auto", err: "found none of SLURM_ARRAY_TASK_ID"},
		"slurm": {text: "auto", env: "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=8 " +
			"SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=8", want: Shard{3, 8, slurmID}},
		"slurm from 0": {text: "auto", env: "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=8 " +
			"SLURM_ARRAY_TASK_MIN=0", want: Shard{1, 8, slurmID}},
		"slurm steps": {text: "auto", env: "SLURM_ARRAY_TASK_ID=14 SLURM_ARRAY_TASK_COUNT=4 " +
			"SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_STEP=2", want: Shard{3, 4, slurmID}},
		"slurm counted": {text: "auto/4", env: "SLURM_ARRAY_TASK_ID=14 SLURM_ARRAY_TASK_COUNT=4 " +
			"SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_STEP=2", want: Shard{3, 4, slurmID}},
		"slurm again": {text: "auto/8", env: "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=1 " +
			"SLURM_ARRAY_TASK_MIN=3", want: Shard{3, 8, slurmID}},
		"slurm some again": {text: "auto/8", env: "SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_COUNT=2 " +
			"SLURM_ARRAY_TASK_MIN=3", want: Shard{7, 8, slurmID}},
		"slurm again, beyond": {text: "auto/8", env: "SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_COUNT=1 " +
			"SLURM_ARRAY_TASK_MIN=9", err: "is task 9 of 8"},
		"slurm again, 0": {text: "auto/8", env: "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=1 " +
			"SLURM_ARRAY_TASK_MIN=0", err: "is task 0 of 8"},
		"slurm again, no N": {text: "auto", env: "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=1 " +
			"SLURM_ARRAY_TASK_MIN=3", err: "run again? write auto/N"},
		"slurm without count": {text: "auto", env: "SLURM_ARRAY_TASK_ID=3",
			err: "SLURM_ARRAY_TASK_COUNT is not set: write auto/N"},
		"slurm with gaps": {text: "auto", env: "SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_COUNT=2 " +
			"SLURM_ARRAY_TASK_MIN=1", err: "is task 9 of 2"},
		"slurm between steps": {text: "auto", env: "SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_COUNT=2 " +
			"SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_STEP=2", err: "expected one of 1, 3"},
		"slurm no number": {text: "auto", env: "SLURM_ARRAY_TASK_ID=x SLURM_ARRAY_TASK_COUNT=2",
			err: `SLURM_ARRAY_TASK_ID is "x"`},
		"slurm count negative": {text: "auto", env: "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=-2",
			err: `COUNT is "-2"`},
		"batch": {text: "auto", env: "AWS_BATCH_JOB_ARRAY_INDEX=0 AWS_BATCH_JOB_ARRAY_SIZE=5",
			want: Shard{1, 5, batchIndex}},
		"batch counted": {text: "auto/5", env: "AWS_BATCH_JOB_ARRAY_INDEX=4", want: Shard{5, 5, batchIndex}},
		"batch on Kubernetes": {text: "auto", env: "AWS_BATCH_JOB_ARRAY_INDEX=4 AWS_BATCH_JOB_ARRAY_SIZE=5 " +
			"JOB_COMPLETION_INDEX=4", want: Shard{5, 5, batchIndex}},
		"batch without size": {text: "auto", env: "AWS_BATCH_JOB_ARRAY_INDEX=0", err: "write auto/N with N the size"},
		"batch of others": {text: "auto/6", env: "AWS_BATCH_JOB_ARRAY_INDEX=0 AWS_BATCH_JOB_ARRAY_SIZE=5",
			err: "SIZE is 5, asked for auto/6"},
		"batch beyond": {text: "auto", env: "AWS_BATCH_JOB_ARRAY_INDEX=5 AWS_BATCH_JOB_ARRAY_SIZE=5",
			err: "is task 6 of 5"},
		"batch no number": {text: "auto", env: "AWS_BATCH_JOB_ARRAY_INDEX= AWS_BATCH_JOB_ARRAY_SIZE=5",
			err: `INDEX is ""`},
		"kubernetes": {text: "auto/3", env: "JOB_COMPLETION_INDEX=2", want: Shard{3, 3, kubernetesID}},
		"kubernetes uncounted": {text: "auto", env: "JOB_COMPLETION_INDEX=2",
			err: "tells a task no count: write auto/N"},
		"kubernetes beyond": {text: "auto/3", env: "JOB_COMPLETION_INDEX=3",
			err: "JOB_COMPLETION_INDEX=3 is task 4 of 3"},
		"kubernetes no number": {text: "auto/3", env: "JOB_COMPLETION_INDEX=1.5", err: `is "1.5"`},
	} {
		set := map[string]string{}
		for _, pair := range strings.Fields(c.env) {
			k, v, _ := strings.Cut(pair, "=")
			set[k] = v
		}
		got, err := Parse(c.text, func(k string) (string, bool) { v, ok := set[k]; return v, ok })
		switch {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) ||
			strings.Contains(err.Error(), "\n")):
			t.Errorf("%s: %v, %v, expected %q", name, got, err, c.err)
		case c.err == "" && (err != nil || got != c.want):
			t.Errorf("%s: %v, %v, expected %v", name, got, err, c.want)
		}
	}
	if got := (Shard{3, 8, slurmID}).Note(); got != "shard 3/8, by SLURM_ARRAY_TASK_ID" {
		t.Error(got)
	}
}

// Ranges follow each other without gaps, whole units each but the last.
func TestRange(t *testing.T) {
	for _, c := range []struct{ total, unit, of int }{{10, 1, 3}, {10, 4, 3}, {8, 1, 8}, {1, 1, 1}, {1000, 32, 8},
		{31, 32, 1}} {
		next := 0
		for i := 1; i <= c.of; i++ {
			first, end, err := Shard{Index: i, Of: c.of}.Range(c.total, c.unit)
			if err != nil || first != next || end <= first || first%c.unit != 0 {
				t.Errorf("%v, %d: %d to %d, %v, expected from %d", c, i, first, end, err, next)
			}
			next = end
		}
		if next != c.total {
			t.Errorf("%v: ends at %d", c, next)
		}
	}
	if first, end, err := (Shard{}).Range(7, 3); first != 0 || end != 7 || err != nil {
		t.Error(first, end, err)
	}
	if _, _, err := (Shard{Index: 1, Of: 4}).Range(10, 4); err == nil ||
		!strings.Contains(err.Error(), "at most 3 shards") {
		t.Error(err)
	}
}
