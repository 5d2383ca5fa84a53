package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"winnow/papers/studies"
)

// gain returns the question of a line of EXPERIMENTS.md's first table: what a row gains over another.
func gain(say, better, than string) studies.Claim {
	return studies.Claim{Say: say, Better: studies.Names{better}, Than: studies.Names{than}}
}

// first lists the lines of the first table, by the folder of their study.
var first = []struct {
	folder string
	gains  []studies.Claim
}{
	{"networks/photographs-prism", []studies.Claim{
		gain("birds: filter over none", "PRISM", "no filter"),
		gain("birds: screening over none", "screened", "no filter"),
		gain("birds: perfect filter (oracle) over none", "oracle filter", "no filter"),
		gain("birds: winnow's defaults, rate estimated, over none", "screened + PRISM (rate estimated)", "no filter"),
	}},
	{"reproduce/whole-prism-table2", []studies.Claim{
		gain("characters, 600 steps, MCL: filter over none", "MCL + PRISM (vMF-Sim)", "Memory Contrastive Loss (MCL)"),
		gain("characters, 600 steps, SoftTriple: filter over none", "SoftTriple + PRISM (vMF-Sim)", "SoftTriple"),
		gain("characters, 600 steps: MCL with a filter over Co-teaching", "MCL + PRISM (vMF-Sim)", "Co-teaching"),
	}},
	{"networks/omniglot-noise", []studies.Claim{
		gain("characters, 160 steps, MCL: filter over none", "MCL + vMF-Sim", "MCL"),
		gain("characters, 160 steps, MCL: perfect filter (oracle) over none", "MCL + oracle filter", "MCL"),
		gain("characters, 160 steps, SoftTriple: filter over none", "SoftTriple + vMF-Sim", "SoftTriple"),
	}},
}

// answers returns the first table: differences in points of P@1, paired by seed, with the half width of their 95 %
// intervals. Those that are significant among all differences of their study here are bold.
func answers(root string) (string, error) {
	text := "| difference in P@1 | 20 % wrong | 50 % wrong | 50 %, clusters | clean |\n" +
		"|---|---:|---:|---:|---:|\n"
	for _, part := range first {
		_, enough, _, err := read(filepath.Join(root, "experiments", part.folder))
		if err != nil {
			return "", err
		}
		enough.Study.Claims, enough.Study.Joint = part.gains, true
		for _, v := range enough.TestClaims() {
			if len(v.Comparisons) == 0 { // too few seeds
				continue
			}
			text += "| " + v.Claim.Say + " |"
			for _, column := range []string{"sym 20", "sym 50", "small 50", "clean"} {
				text += " " + describeGain(v, column) + " |"
			}
			text += "\n"
		}
	}
	return text, nil
}

// describeGain returns a cell of the first table; "" without 10 seeds.
func describeGain(v studies.Verdict, column string) (cell string) {
	for _, c := range v.Comparisons {
		if !strings.HasSuffix(c.Better, ", "+column) || c.N < 10 {
			continue
		}
		if cell = fmt.Sprintf("%+.1f ±%.1f", 100*c.Mean, 50*(c.High-c.Low)); c.State != studies.CannotSay {
			cell = "**" + cell + "**"
		}
	}
	return cell
}
