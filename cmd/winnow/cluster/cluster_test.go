package cluster

import (
	"strings"
	"testing"

	"winnow/cluster"
	"winnow/cmd/winnow/term/termtest"
)

// The flags become a request, and misuse never reaches the call. The test's program has only this command.
func TestOptions(t *testing.T) {
	handed := func(words string) []cluster.Command {
		return []cluster.Command{{Name: "cluster status", Words: strings.Fields(words), At: 2,
			Flags: map[string]string{"json": "true"}, Known: []string{"verify", "json"}}}
	}
	termtest.Check(t, newClusterCommand, map[string]Options{
		"status a b --verify": {To: "status", Outs: []string{"a", "b"}, Verify: true},
		"slurm --tasks 3 --mem 1MiB --sbatch=--account=a,b -- cluster status --json x": {To: "slurm",
			Commands: handed("cluster status --json x"),
			Engine: cluster.Options{Tasks: 3, Memory: 1 << 20, Retries: 2,
				Slurm: cluster.Slurm{More: []string{"--account=a,b"}}}},
		"kubernetes --tasks 3 --image i --claim c -- cluster status --json x": {To: "kubernetes",
			Commands: handed("cluster status --json x"),
			Engine: cluster.Options{Tasks: 3, Retries: 2, Kubernetes: cluster.Kubernetes{Image: "i", Claim: "c",
				Mount: "/data"}}},
	}, []string{"", "slurm --tasks 3 --mem much -- cluster status x", "slurm --tasks x",
		"slurm --tasks 3 -- extrat", "kubernetes --tasks 3 -- cluster status x", "nowhere"})
}
