package cluster

import (
	"strings"
	"testing"

	"winnow/cluster"
	"winnow/cmd/winnow/term/termtest"
	"winnow/datasets/location"
)

// The flags become a request, and misuse never reaches the call. The test's program has only this command.
func TestOptions(t *testing.T) {
	handed := cluster.Command{Name: "cluster status", Words: strings.Fields("cluster status x"), At: 2,
		Flags: map[string]string{}}
	termtest.Check(t, newClusterCommand, map[string]Options{
		"status a": {To: "status", Out: location.At("a")},
		"slurm --tasks 3 --sbatch=--account=a,b -- cluster status x": {To: "slurm", Command: handed,
			Engine: cluster.Options{Tasks: 3, Sbatch: []string{"--account=a,b"}}},
		"kubernetes --tasks 3 --image i --claim c -- cluster status x": {To: "kubernetes", Command: handed,
			Engine: cluster.Options{Tasks: 3, Image: "i", Claim: "c"}},
	}, []string{"", "slurm --tasks x", "slurm --tasks 3 -- extrat", "slurm", "nowhere", "status a b",
		"slurm --tasks 3 -- cluster status x -- cluster status y"})
}
