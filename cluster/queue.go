package cluster

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// patience is how long to wait for Slurm: its controller may be down.
const patience = 10 * time.Second

// Queue returns what an engine knows of the tasks of jobs.
type Queue func(ctx context.Context, jobs []string) []Queued

// Queued is what Slurm knows of a task.
type Queued struct {
	ID     string // 12_3
	State  string // RUNNING
	Reason string // why it waits; if it has ended, its exit code and signal
	Ended  bool
}

// shard returns the number of the task in its array, or 0.
func (q Queued) shard() int {
	_, task, _ := strings.Cut(q.ID, "_")
	n, _ := strconv.Atoi(task) // 0 for [3-8], which squeue -r splits
	return n
}

// held reports whether the task waits to be released, as after the controller died while starting it.
func (q Queued) held() bool {
	return q.State == "PENDING" && strings.Contains(strings.ToLower(q.Reason), "held")
}

func (q Queued) String() string { return fmt.Sprintf("Slurm: %s (%s)", q.State, q.Reason) }

// askSlurm asks sacct, if Slurm keeps accounts, how tasks ended, and squeue which tasks wait or run. Tasks that neither
// knows are left out.
func askSlurm(ctx context.Context, jobs []string) []Queued {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	list := strings.Join(jobs, ",")
	return append(readQueue(told(ctx, "sacct", "-X", "-n", "-P", "-j", list, "-o", "JobID,State,ExitCode"), true),
		readQueue(told(ctx, "squeue", "-h", "-r", "-j", list, "-o", "%i|%T|%r"), false)...)
}

// readQueue reads lines of ID|STATE|REASON; with ended only failed tasks.
func readQueue(lines string, ended bool) (list []Queued) {
	for line := range strings.Lines(lines) {
		f := strings.SplitN(strings.TrimSpace(line), "|", 3)
		if len(f) < 3 {
			continue
		}
		q := Queued{f[0], f[1], f[2], ended}
		switch q.State {
		case "PENDING", "RUNNING", "SUSPENDED", "REQUEUED", "COMPLETED":
			if ended {
				continue
			}
		}
		list = append(list, q)
	}
	return list
}

// told returns the output of a program, or "" if it fails.
func told(ctx context.Context, name string, args ...string) string {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(out))
}

// queued returns the tasks of all submitted jobs by shard. The last answer for a shard counts.
func (n notes) queued(ctx context.Context, ask Queue) map[int]Queued {
	found := map[int]Queued{}
	if ask == nil || len(n.jobs) == 0 {
		return found
	}
	for _, q := range ask(ctx, n.jobs) {
		found[q.shard()] = q
	}
	return found
}
