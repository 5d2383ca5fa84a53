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
	termtest.Check(t, command, map[string]cluster.Request{
		"status a b --verify": {To: "status", Words: []string{"a", "b"}, Verify: true},
		"slurm --tasks 3 --mem 1MiB --sbatch=--account=a,b --chain --submit -- cluster status --json x": {To: "slurm",
			Words:    strings.Fields("cluster status --json x"),
			Commands: handed("cluster status --json x"),
			Options: cluster.Options{Tasks: 3, Memory: 1 << 20, Retries: 2,
				Slurm: cluster.Slurm{More: []string{"--account=a,b"}, Chain: true, Submit: true}}},
		"kubernetes --image i --claim c -- cluster status --json x": {To: "kubernetes",
			Words: strings.Fields("cluster status --json x"), Commands: handed("cluster status --json x"),
			Options: cluster.Options{Retries: 2, Kubernetes: cluster.Kubernetes{Image: "i", Claim: "c",
				Mount: "/data"}}},
	}, []string{"", "slurm --mem much -- cluster status x", "slurm --tasks x", "slurm -- extrat",
		"kubernetes -- cluster status x", "nowhere"})
}
