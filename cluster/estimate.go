package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"winnow/cluster/plan"
	"winnow/internal/text"
)

// estimate is the result of a dry run, as the command prints it. The zero value means unknown.
type estimate struct {
	Images    int     `json:"images"`
	Bytes     int64   `json:"bytes"`
	Tried     int     `json:"tried"`
	Device    string  `json:"device"`
	Batch     int     `json:"batch"`
	PerSecond float64 `json:"images_per_second"`
	Memory    int64   `json:"memory"`
}

func (e estimate) known() bool { return e.PerSecond > 0 }

// units returns the largest possible number of parts.
func (e estimate) units() int { return (e.Images + e.Batch - 1) / e.Batch }

// Factors from what a dry run measured to what is requested: other machines may be slower, file systems are shared, and
// the engine stops a task at its limit.
const (
	timeMargin   = 2.0
	memoryMargin = 1.5
)

// aimed is the time of a task if the number of tasks is not given: long compared with its start, but short enough to
// lose little by a failure.
const aimed = time.Hour

// tasks returns the number of tasks that take about an hour each.
func (e estimate) tasks() int {
	n := int(e.seconds()/aimed.Seconds()) + 1
	return min(n, e.units(), most)
}

func (e estimate) seconds() float64 { return float64(e.Images) / e.PerSecond }

// limit returns the time limit of a task.
func (e estimate) limit(tasks int) time.Duration {
	worst := (e.units() + tasks - 1) / tasks * e.Batch // the largest part
	return roundUp(plan.Start + time.Duration(timeMargin*float64(worst)/e.PerSecond*float64(time.Second)))
}

// joinLimit returns the time limit of the join.
func (e estimate) joinLimit() time.Duration {
	return roundUp(plan.Start + time.Duration(timeMargin*float64(plan.Join(e.Bytes, plan.JoinRate))))
}

// memory returns the memory of a task: that of the dry run with a margin, rounded up to 256 MiB; 0: unknown.
func (e estimate) memory() int64 {
	const step = 256 << 20
	return (int64(memoryMargin*float64(e.Memory)) + step - 1) / step * step
}

// because explains the limits.
func (e estimate) because(tasks int) string {
	if !e.known() {
		return ""
	}
	held := ""
	if e.Memory > 0 {
		held = ", and held " + text.Approx(e.Memory)
	}
	return fmt.Sprintf("a dry run of %d of %d images made %.1f images/s here on %s%s: about %s for each of %d "+
		"tasks; asked for: %g times that and a minute, %g times the memory",
		e.Tried, e.Images, e.PerSecond, e.Device, held,
		text.About(time.Duration(e.seconds()/float64(tasks)*float64(time.Second))), tasks, timeMargin, memoryMargin)
}

// roundUp rounds up to five minutes.
func roundUp(d time.Duration) time.Duration {
	const step = 5 * time.Minute
	return (d + step - 1) / step * step
}

// clock formats a time for Slurm: [days-]hours:minutes:seconds.
func clock(d time.Duration) string {
	s := int(d.Seconds())
	days := ""
	if s >= 86400 {
		days = strconv.Itoa(s/86400) + "-"
	}
	return fmt.Sprintf("%s%02d:%02d:%02d", days, s%86400/3600, s%3600/60, s%60)
}

// estimate makes a dry run of an extraction, with one thread per core of a task.
func (h Host) estimate(ctx context.Context, c Command, o Options) (e estimate, err error) {
	words := c.with("--dry-run", "--json", "--quiet", "--shard", "1/1")
	if o.CPUs > 0 && c.Flags["threads"] == "" {
		words = c.with("--dry-run", "--json", "--quiet", "--shard", "1/1", "--threads", strconv.Itoa(o.CPUs))
	}
	printed, err := h.Run(ctx, words)
	if err != nil {
		return e, fmt.Errorf("cluster: the dry run: %w", err)
	}
	if err := json.Unmarshal(printed, &e); err != nil {
		return e, fmt.Errorf("cluster: the dry run printed what cannot be read: %w", err)
	}
	if !e.known() || e.Batch < 1 || e.Images < 1 {
		return e, fmt.Errorf("cluster: the dry run found %d images at %g images/s, expected some", e.Images,
			e.PerSecond)
	}
	if o.GPUs > 0 && c.Flags["device"] == "" {
		h.Note("the dry run computed on %s: times on a GPU are shorter", e.Device)
	}
	return e, nil
}
