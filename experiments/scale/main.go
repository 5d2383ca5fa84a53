// Command scale prints how long 10⁸ images take on 64 workers by winnow cluster's planner: the table of
// docs/scale.md, which tells measured rates from assumed ones.
package main

import (
	"fmt"
	"os"
	"slices"
	"time"

	"winnow/cluster/plan"
)

// seeds is the number of draws of the failures.
const seeds = 101

func main() {
	base := plan.Job{Images: 100_000_000, ImageBytes: 110e3, Tasks: 256, Workers: 64, Storage: 5e9,
		Between: 30 * 24 * time.Hour,
		Requeue: 2 * time.Minute, Kept: 10 * time.Second, Vector: 1280 * 4, JoinRate: plan.JoinRate,
		Start: 2 * time.Minute}
	fmt.Println("| case | images/s | extract | failures | lost | join | in all | bound by |\n" +
		"|---|---:|---:|---:|---:|---:|---:|---|")
	for _, c := range []struct {
		name   string
		change func(j *plan.Job)
	}{
		{"64 × 2 cores, 76/s each", func(j *plan.Job) { j.Rate = 76 }},
		{"64 GPUs, 500/s each", func(j *plan.Job) { j.Rate = 500 }},
		{"64 GPUs, 3,000/s each", func(j *plan.Job) { j.Rate = 3000 }},
		{"the same, storage of 1 GB/s", func(j *plan.Job) { j.Rate, j.Storage = 3000, 1e9 }},
		{"500/s each, a failure an hour a worker", func(j *plan.Job) { j.Rate, j.Between = 500, time.Hour }},
		{"500/s, float16 and a join at 400 MB/s", func(j *plan.Job) {
			j.Rate, j.Vector, j.JoinRate = 500, 1280*2, 400e6
		}},
	} {
		j := base
		c.change(&j)
		var all []plan.Outcome
		for seed := range uint64(seeds) {
			o, err := j.Draw(seed)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			all = append(all, o)
		}
		slices.SortFunc(all, func(a, b plan.Outcome) int { return int(a.Wall() - b.Wall()) })
		o := all[seeds/2] // the median
		fmt.Printf("| %s | %.0f | %.1f h | %d | %.1f h | %.1f h | %.1f h | %s |\n", c.name, o.Rate, o.Extract.Hours(),
			o.Failures, o.Lost.Hours(), o.Join.Hours(), o.Wall().Hours(), o.Bound)
	}
}
