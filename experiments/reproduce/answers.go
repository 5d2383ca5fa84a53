package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"winnow/papers/studies"
)

// asked is a line of the first table of EXPERIMENTS.md: what a row gains over another, on whole networks.
type asked struct{ say, folder, better, than string }

var first = []asked{
	{"filter: AvgSim over none", "omniglot-noise", "MCL + AvgSim", "MCL"},
	{"filter: vMF-Sim over none", "omniglot-noise", "MCL + vMF-Sim", "MCL"},
	{"a perfect filter over none", "omniglot-noise", "MCL + oracle filter", "MCL"},
	{"as many labels dropped at random over none", "omniglot-noise", "MCL + random drop", "MCL"},
	{"filter with a proxy loss: vMF-Sim over none", "omniglot-noise", "SoftTriple + vMF-Sim", "SoftTriple"},
	{"another loss, no filter (MS) over vMF-Sim", "omniglot-noise", "MS", "MCL + vMF-Sim"},
	{"two networks (Co-teaching) over vMF-Sim", "omniglot-noise", "Co-teaching", "MCL + vMF-Sim"},
	{"600 steps, vMF-Sim over none", "whole-prism-table2", "MCL + PRISM (vMF-Sim)", "Memory Contrastive Loss (MCL)"},
}

// answers returns the first table of EXPERIMENTS.md: differences in points of P@1, paired by seed, with the half width
// of their 95 % intervals. All differences of the table are tested together; significant ones are bold.
func answers(root string) (string, error) {
	columns := []string{"sym 20", "sym 50", "small 50", "clean"}
	var b strings.Builder
	fmt.Fprintf(&b, "| whole network, Omniglot | 20 %% wrong | 50 %% wrong | 50 %%, whole clusters | clean |\n|---%s|\n",
		strings.Repeat("|---:", len(columns)))
	folders := map[string]string{"omniglot-noise": "networks", "whole-prism-table2": "reproduce"}
	for _, line := range first {
		_, enough, _, err := read(filepath.Join(root, "experiments", folders[line.folder], line.folder))
		if err != nil {
			return "", err
		}
		var claims []studies.Claim
		for _, a := range first {
			for _, column := range columns {
				if a.folder == line.folder {
					claims = append(claims, studies.Claim{Say: a.say + column, Better: studies.Names{a.better},
						Than: studies.Names{a.than}, Columns: studies.Names{column}})
				}
			}
		}
		enough.Study.Claims = claims
		cells := map[string]string{}
		for _, v := range enough.TestClaims() {
			for _, c := range v.Comparisons {
				cell := fmt.Sprintf("%+.1f ±%.1f", 100*c.Mean, 50*(c.High-c.Low))
				if c.State != studies.CannotSay {
					cell = "**" + cell + "**"
				}
				if c.N < 10 {
					cell += fmt.Sprintf(" n=%d", c.N)
				}
				cells[v.Claim.Say] = cell
			}
		}
		fmt.Fprintf(&b, "| %s |", line.say)
		for _, column := range columns {
			fmt.Fprintf(&b, " %s |", cells[line.say+column])
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}
